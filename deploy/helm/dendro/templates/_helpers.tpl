{{- define "dendro.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that select the pods of a role. Call with (list $ "api"). */}}
{{- define "dendro.selector" -}}
app.kubernetes.io/name: dendro
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "dendro.labels" -}}
{{ include "dendro.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end -}}

{{/* The pod of a role. Call with (dict "root" $ "role" "api" "roles" "api" "pods" .Values.api). */}}
{{- define "dendro.pod" -}}
{{- $root := .root -}}
{{- $scheme := ternary "HTTPS" "HTTP" (ne $root.Values.tls.secretName "") -}}
metadata:
  labels:
    {{- include "dendro.labels" (list $root .role) | nindent 4 }}
  {{- with $root.Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  # The drain, and the 30 s after which a stop ends by itself.
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  {{- with $root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: dendro
      image: {{ printf "%s:%s" $root.Values.image.repository ($root.Values.image.tag | default $root.Chart.AppVersion) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        - { name: DENDRO_ROLES, value: {{ .roles | quote }} }
        - { name: DENDRO_MEMORY, value: {{ .pods.memory | quote }} }
        {{- if not (hasKey $root.Values.settings "DENDRO_DRAIN_TIME") }}
        - { name: DENDRO_DRAIN_TIME, value: 10s }
        {{- end }}
        {{- if $root.Values.tls.secretName }}
        - { name: DENDRO_TLS_CERT, value: /tls/tls.crt }
        - { name: DENDRO_TLS_KEY, value: /tls/tls.key }
        {{- end }}
        {{- range $name, $value := $root.Values.settings }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
      envFrom:
        - secretRef: { name: {{ $root.Values.secretName }} }
      ports:
        - { name: http, containerPort: 8080 }
        {{- if contains "ingest" .roles }}
        {{- range $root.Values.listenerPorts }}
        - { name: {{ .name }}, containerPort: {{ .port }}, protocol: {{ .protocol }} }
        {{- end }}
        {{- end }}
      # A first start makes the stores, and a later one may repair them.
      startupProbe:
        httpGet: { path: /live, port: http, scheme: {{ $scheme }} }
        periodSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /live, port: http, scheme: {{ $scheme }} }
        periodSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /ready, port: http, scheme: {{ $scheme }} }
        periodSeconds: 3
        failureThreshold: 2
      resources:
        {{- toYaml .pods.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if $root.Values.tls.secretName }}
        - { name: tls, mountPath: /tls, readOnly: true }
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: {} }
    # Mode 0440.
    {{- with $root.Values.tls.secretName }}
    - { name: tls, secret: { secretName: {{ . | quote }}, defaultMode: 288 } }
    {{- end }}
    {{- if ne $root.Values.stores "embedded" }}
    # What only this process has: nothing that must survive.
    - { name: data, emptyDir: {} }
    {{- end }}
{{- end -}}
