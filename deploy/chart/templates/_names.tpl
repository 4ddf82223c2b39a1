{{- define "troupe.name" -}}
{{- if eq .Release.Name .Chart.Name -}}
{{ .Chart.Name }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "troupe.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* What chooses the pods of one service: a dict of root and name. */}}
{{- define "troupe.chosen" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "troupe.image" -}}
{{ required "image.repository: where the cluster gets the platform's image" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "troupe.secret" -}}
{{ .Values.existingSecret | default (include "troupe.name" .) }}
{{- end -}}

{{- define "troupe.host" -}}
{{ required "host: the name under which people reach the dashboard" .Values.host }}
{{- end -}}

{{- define "troupe.agentsDomain" -}}
{{ .Values.agentsDomain | default (printf "agents.%s" (include "troupe.host" .)) }}
{{- end -}}

{{/* What every pod of the platform is alike in. */}}
{{- define "troupe.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "troupe.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "troupe.environment" -}}
- configMapRef:
    name: {{ include "troupe.name" . }}
- secretRef:
    name: {{ include "troupe.secret" . }}
{{- end -}}

{{/* A folder that may be lost, and /tmp: the rest is read-only. */}}
{{- define "troupe.mounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- end -}}

{{- define "troupe.volumes" -}}
- name: data
  emptyDir: {}
- name: tmp
  emptyDir: {}
{{- end -}}
