"""The portal's routes and the bare view."""

from django.urls import include, path

from benchmarks.bare.views import insert

urlpatterns = [path("bare/", insert), path("", include("portal.urls"))]
