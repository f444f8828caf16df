"""Signing in and out, passwords, API tokens."""

from __future__ import annotations

import time

from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from knox.models import AuthToken

from annotation.forms.accounts import ChangePasswordForm, NewPasswordForm, SignInForm
from annotation.models import User
from annotation.services.accounts import password_change, token_create, token_revoke
from annotation.services.errors import Refused
from annotation.services.sign_in import sign_in_blocked, sign_in_failed, sign_in_succeeded
from annotation.views.requests import person_of, posted

# Somebody who came in with a one-time password is not signed in before they chose their own: until then the session
# holds only who it was, the start of their password's hash, and since when (seconds).
PENDING = "pending_sign_in"
PENDING_SECONDS = 15 * 60
WRONG = "User name and password do not match. Mind upper and lower case; an archived account cannot sign in."
WAIT = "There were too many failed tries for this name. Wait ten minutes, then try again."


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(_target(request))
    form = SignInForm(posted(request))
    if request.method == "POST" and form.is_valid():
        username, address = form.cleaned_data["username"], request.META.get("REMOTE_ADDR", "")
        if sign_in_blocked(username=username, address=address):
            form.add_error(None, WAIT)
            return render(request, "annotation/sign_in.html", {"form": form}, status=429)
        person = authenticate(request, username=username, password=form.cleaned_data["password"])
        if isinstance(person, User):
            sign_in_succeeded(username=username, address=address)
            return _let_in(request, person)
        sign_in_failed(username=username, address=address)
        form.add_error(None, WRONG)
    return render(request, "annotation/sign_in.html", {"form": form, "next": _next(request)})


def _let_in(request: HttpRequest, person: User) -> HttpResponse:
    if person.must_change_password:
        request.session.cycle_key()
        request.session[PENDING] = [person.pk, person.get_session_auth_hash(), int(time.time()), _next(request)]
        return redirect("password")
    login(request, person)
    return redirect(_target(request))


def _next(request: HttpRequest) -> str:
    """Where the person wanted to go, if that is a page of this portal."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if safe else ""


def _target(request: HttpRequest) -> str:
    return _next(request) or "home"


@login_not_required
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    messages.success(request, "You are signed out.")
    return redirect("sign-in")


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    """Choose a new password: at will, or before being let in with a one-time password."""
    pending = None if request.user.is_authenticated else _pending_person(request)
    if pending is None and not request.user.is_authenticated:
        return redirect("sign-in")
    person = pending or person_of(request)
    form_class = NewPasswordForm if pending else ChangePasswordForm
    form = form_class(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            return _change_password(request, person, form, pending is not None)
        except Refused as refusal:
            form.refuse(refusal)
    return render(request, "annotation/password.html", {"form": form, "pending": pending})


def _change_password(request: HttpRequest, person: User, form: NewPasswordForm, pending: bool) -> HttpResponse:
    if not pending and not person.check_password(form.cleaned_data["present"]):
        raise Refused("This is not your present password.", field="present")
    password_change(person=person, password=form.cleaned_data["new"])
    target = "home"
    if pending:
        target = request.session.pop(PENDING)[3] or "home"
        login(request, person, backend="django.contrib.auth.backends.ModelBackend")
    else:
        update_session_auth_hash(request, person)
    messages.success(request, "Your password is changed; other browsers that were signed in are signed out.")
    return redirect(target)


def _pending_person(request: HttpRequest) -> User | None:
    """Who came in with a one-time password, as long as it is still that password and not long ago."""
    held = request.session.get(PENDING)
    if not held or time.time() - held[2] > PENDING_SECONDS:
        return None
    person = User.objects.filter(pk=held[0], is_active=True).first()
    return person if person and person.get_session_auth_hash() == held[1] else None


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """The person's API tokens. A new one is shown in the answer to its creation and never again."""
    person = person_of(request)
    new_token = ""
    if request.method == "POST":
        _, new_token = token_create(person=person)
    rows = AuthToken.objects.filter(user=person).order_by("-created")
    return render(request, "annotation/tokens.html", {"tokens": rows, "new_token": new_token})


@require_POST
def token_revoke_view(request: HttpRequest, digest: str) -> HttpResponse:
    token_revoke(person=person_of(request), digest=digest)
    messages.success(request, "The token is revoked; programs that use it are refused from now on.")
    return redirect("tokens")
