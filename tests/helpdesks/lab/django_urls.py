"""The pages of the django-helpdesk that tests start."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls), path("", include("helpdesk.urls", namespace="helpdesk"))]
