"""Projects: the list, a new one, one's overview and settings."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import SUPERVISOR, get_project, gold_shown_to
from annotation.forms.projects import NewProjectForm, ProjectNameForm
from annotation.models import ExamDialogue, LabelSet, Membership, Project, Purpose, Role
from annotation.services.errors import Refused
from annotation.services.projects import (
    project_archive,
    project_create,
    project_delete,
    project_rename,
    project_restore,
)
from annotation.views.progress import CLOSED, annotator_progress, own_label_sets, project_counts
from annotation.views.requests import page_of, person_of, posted


@require_safe
def projects(request: HttpRequest) -> HttpResponse:
    """All projects the person can see, with their roles in each."""
    user = person_of(request)
    show = "archived" if request.GET.get("show") == "archived" else "open"
    visible = Project.objects.visible_to(user)
    rows = visible.filter(archived_at__isnull=show == "open")
    query = request.GET.get("q", "").strip()
    page = page_of(request, rows.filter(name__icontains=query) if query else rows)
    roles: dict[int, list[str]] = {}
    for project_id, role in user.memberships.values_list("project_id", "role"):
        roles.setdefault(project_id, []).append(role)
    counts = project_counts(page.object_list)
    for project in page.object_list:
        mine = roles.get(project.pk, [])
        shows_work = user.is_superuser or Role.SUPERVISOR in mine
        vars(project).update(counts=counts[project.pk], my_roles=mine, shows_work=shows_work)
    context = {"page": page, "show": show, "q": query, "archived": visible.exclude(archived_at=None).count()}
    return render(request, "annotation/projects.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def project_new(request: HttpRequest) -> HttpResponse:
    user = person_of(request)
    if not user.may_create_projects:
        raise PermissionDenied("Projects are created by supervisors and administrators.")
    form = NewProjectForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            project = project_create(**form.cleaned_data, creator=user)
        except Refused as refusal:
            form.refuse(refusal)
        else:
            messages.success(request, f"The project “{project.name}” is there. Import its dialogues next.")
            return redirect("project", project.slug)
    return render(request, "annotation/project_new.html", {"form": form})


@require_safe
def project(request: HttpRequest, slug: str) -> HttpResponse:
    user = person_of(request)
    found = get_project(user, slug)
    roles = found.roles  # type: ignore[attr-defined]
    supervises = Role.SUPERVISOR in roles
    mine = own_label_sets(user).filter(dialogue__project=found)
    statuses = list(mine.order_by().values_list("status", flat=True))
    gold = gold_shown_to(user, found).filter(dialogue__project=found, dialogue__archived_at=None)
    context = {
        "project": found,
        "counts": project_counts([found])[found.pk],
        "annotators": annotator_progress(found) if supervises else [],
        "members": Membership.objects.filter(project=found).values("user").distinct().count(),
        "mine": len(statuses),
        "exams": Role.ANNOTATOR in roles and ExamDialogue.objects.filter(dialogue__project=found).exists(),
        "mine_finished": sum(status in CLOSED for status in statuses),
        **(_gold(gold) if supervises or Role.DOCTOR in roles else {}),
    }
    return render(request, "annotation/project.html", context)


def _gold(rows: QuerySet[LabelSet]) -> dict[str, int]:
    """Gold as exports and evaluations count it, gold that is under way, and gold that is no data."""
    work = Q(purpose=Purpose.WORK)
    finished = work & Q(status__in=CLOSED)
    return rows.order_by().aggregate(
        gold=Count("pk", filter=finished),
        gold_begun=Count("pk", filter=work & ~finished),
        gold_exams=Count("pk", filter=~work),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def project_settings(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_project(person_of(request), slug, SUPERVISOR)
    form = ProjectNameForm(posted(request), initial={"name": found.name})
    if request.method == "POST" and form.is_valid():
        before = found.name
        try:
            project_rename(project=found, name=form.cleaned_data["name"])
        except Refused as refusal:
            found.name = before
            form.refuse(refusal)
        else:
            messages.success(request, f"The project is named “{found.name}” now; its address stays the same.")
            return redirect("project-settings", slug)
    deletable = not found.dialogues.exists() and not found.import_jobs.exists()
    return render(request, "annotation/project_settings.html", {"project": found, "form": form, "deletable": deletable})


@require_POST
def project_archive_view(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_project(person_of(request), slug, SUPERVISOR)
    project_archive(project=found)
    messages.success(request, f"“{found.name}” is archived: it can be read and exported, and nothing in it changes.")
    return redirect("project-settings", slug)


@require_POST
def project_restore_view(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_project(person_of(request), slug, SUPERVISOR)
    project_restore(project=found)
    messages.success(request, f"“{found.name}” is open again.")
    return redirect("project-settings", slug)


@require_POST
def project_delete_view(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_project(person_of(request), slug, SUPERVISOR)
    try:
        project_delete(project=found)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("project-settings", slug)
    messages.success(request, f"“{found.name}” is deleted.")
    return redirect("projects")
