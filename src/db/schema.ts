import type { ColumnType } from "kysely";
export type Generated<T> = T extends ColumnType<infer S, infer I, infer U>
  ? ColumnType<S, I | undefined, U>
  : ColumnType<T, T | undefined, T>;
export type Timestamp = ColumnType<Date, Date | string, Date | string>;

export type attempt = {
    id: string;
    job_id: string;
    number: number;
    scheduler: string;
    state: string;
    reason: string | null;
    detail: string | null;
    /**
     * Resolution of every mount.
     */
    resolutions: unknown;
    /**
     * Who acts on it now, until when; each claim is a new epoch.
     */
    owner: string | null;
    epoch: Generated<number>;
    lease_until: Timestamp | null;
    /**
     * When it wants to be looked at; null: only when something new is known. A claim needs it to be past.
     */
    due_at: Generated<Timestamp | null>;
    /**
     * When it may be rung for (again), and how often it was since the last claim: the row is its own outbox.
     */
    ring_at: Generated<Timestamp>;
    rings: Generated<number>;
    /**
     * Set before the first native call: from then on something may exist.
     */
    submitting_at: Timestamp | null;
    /**
     * Set after the last: everything exists.
     */
    submitted_at: Timestamp | null;
    /**
     * Why its replicas are being ended: canceled, timed_out, queue_timed_out, replica_failed.
     */
    stop_reason: string | null;
    /**
     * How it ended, once all replicas have: {result, reason, detail}.
     */
    outcome: unknown | null;
    /**
     * Until then a replica must run; set when it is queued, if it has a limit.
     */
    queue_deadline_at: Timestamp | null;
    started_at: Timestamp | null;
    /**
     * When the run is over its time; set when it starts, if it has a limit.
     */
    deadline_at: Timestamp | null;
    ended_at: Timestamp | null;
    /**
     * Native objects are gone: nothing more to do.
     */
    removed_at: Timestamp | null;
};
export type drive = {
    id: string;
    project_id: string;
    name: string;
    version: Generated<number>;
    kind: string;
    access: string;
    source: unknown;
    credentials: unknown | null;
    labels: unknown;
    /**
     * What a worker found last: {ok, at, …}; null before the first check.
     */
    checked: unknown | null;
    /**
     * Of managed drives: what their objects take, kept by every change through the API and made anew by a reindex.
     */
    used_bytes: Generated<number>;
    used_objects: Generated<number>;
    /**
     * Sequence number of the last event, taken under this row's lock.
     */
    seq: Generated<number>;
    /**
     * How many batches have become visible; one that began meanwhile tells a list that it may have seen half.
     */
    commits: Generated<number>;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
};
export type drive_check = {
    id: string;
    drive_id: string;
    created_at: Generated<Timestamp>;
};
export type drive_commit = {
    id: string;
    /**
     * Null for the source of a mount that is no registered drive.
     */
    drive_id: string | null;
    on_conflict: string;
    /**
     * What it will have changed: {count, bytes, keys, addedBytes, addedObjects}.
     */
    figures: unknown;
    /**
     * Until then somebody is known to be moving it.
     */
    mover_until: Timestamp;
    done_at: Timestamp | null;
    created_at: Generated<Timestamp>;
};
export type drive_event = {
    drive_id: string;
    seq: number;
    type: string;
    data: unknown;
    at: Generated<Timestamp>;
};
export type drive_removal = {
    id: string;
    created_at: Generated<Timestamp>;
};
export type idempotency_key = {
    project_id: string;
    route: string;
    key: string;
    fingerprint: string;
    job_id: string;
    created_at: Generated<Timestamp>;
};
export type job = {
    id: string;
    project_id: string;
    name: string;
    scheduler: string;
    state: string;
    reason: string | null;
    detail: string | null;
    since: Generated<Timestamp>;
    spec: unknown;
    labels: unknown;
    definition_name: string | null;
    definition_version: number | null;
    /**
     * The ended job that it does again.
     */
    retry_of: string | null;
    /**
     * Number of the attempt that owns the job now.
     */
    attempt: Generated<number>;
    /**
     * Sequence number of the last event: gapless, taken under this row's lock.
     */
    seq: Generated<number>;
    cancel_requested_at: Timestamp | null;
    created_at: Generated<Timestamp>;
    started_at: Timestamp | null;
    ended_at: Timestamp | null;
    /**
     * Since when its output is no longer kept.
     */
    output_removed_at: Timestamp | null;
};
export type job_definition = {
    project_id: string;
    name: string;
    version: number;
    retired_at: Timestamp | null;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
};
export type job_definition_version = {
    project_id: string;
    name: string;
    version: number;
    job: unknown;
    created_at: Generated<Timestamp>;
};
export type job_event = {
    job_id: string;
    seq: number;
    type: string;
    attempt: number;
    /**
     * {state, reason, detail, …}
     */
    data: unknown;
    at: Generated<Timestamp>;
};
export type lease = {
    name: string;
    owner: string;
    epoch: Generated<number>;
    until: Timestamp;
};
export type log_block = {
    attempt_id: string;
    role: string;
    index: number;
    first_seq: number;
    last_seq: number;
    /**
     * Where each stream ends in this block; 0 if it is not in it.
     */
    stdout_end: number;
    stderr_end: number;
    last_at: Timestamp;
};
export type log_segment = {
    attempt_id: string;
    role: string;
    index: number;
    seq: number;
    stream: string;
    start: number;
    bytes: Buffer;
    at: Generated<Timestamp>;
};
export type log_stream = {
    attempt_id: string;
    role: string;
    index: number;
    stream: string;
    size: Generated<number>;
};
export type log_work = {
    attempt_id: string;
    act: string;
    due_at: Timestamp;
};
export type project = {
    id: string;
    created_at: Generated<Timestamp>;
};
export type replica = {
    attempt_id: string;
    role: string;
    index: number;
    phase: string;
    exit_code: number | null;
    started_at: Timestamp | null;
    ended_at: Timestamp | null;
    node: string | null;
    native_id: string | null;
    native_reason: string | null;
    failure: string | null;
};
export type scheduler_health = {
    name: string;
    healthy: boolean;
    detail: string;
    checked_at: Generated<Timestamp>;
};
export type secret = {
    id: string;
    project_id: string;
    name: string;
    version: Generated<number>;
    key_id: string;
    /**
     * The data key, sealed under the ring's key: nonce, ciphertext, tag.
     */
    sealed_key: Buffer;
    /**
     * The value, sealed under the data key.
     */
    sealed: Buffer;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
};
export type setting = {
    key: string;
    value: string;
};
export type webhook = {
    id: string;
    project_id: string;
    name: string;
    version: Generated<number>;
    url: string;
    /**
     * Types of events, and patterns such as `job.*`.
     */
    events: string[];
    /**
     * Labels that a job must have; of others only those that name it.
     */
    label_selector: unknown;
    /**
     * `all`, or `named`: only of jobs that name it.
     */
    scope: string;
    /**
     * `none`, or `per_job`: the next event of a job waits for the one before.
     */
    delivery_order: string;
    /**
     * `v1` (HMAC) or `v1a` (ed25519).
     */
    signing: string;
    header_names: string[];
    enabled: Generated<boolean>;
    /**
     * Why it is not enabled; null where a client has said so.
     */
    disabled_why: string | null;
    /**
     * Failures in a row, since when, and until when nothing is sent.
     */
    failures: Generated<number>;
    failing_since: Timestamp | null;
    paused_until: Timestamp | null;
    created_at: Generated<Timestamp>;
    updated_at: Generated<Timestamp>;
};
export type webhook_attempt = {
    delivery_id: string;
    number: number;
    at: Generated<Timestamp>;
    /**
     * Of the answer; null if there was none.
     */
    status: number | null;
    latency_ms: number;
    error: string | null;
    /**
     * Its beginning, as text.
     */
    answer: string | null;
};
export type webhook_delivery = {
    id: string;
    webhook_id: string;
    type: string;
    /**
     * Id of what the event is about.
     */
    subject: string;
    seq: number;
    data: unknown;
    event_at: Generated<Timestamp>;
    /**
     * `pending`, `delivered`, `failed`.
     */
    state: Generated<string>;
    /**
     * Tries so far, and since it was last asked for: the schedule begins anew then.
     */
    attempts: Generated<number>;
    tries: Generated<number>;
    /**
     * When it may be tried (again); null once it is over.
     */
    due_at: Generated<Timestamp | null>;
    /**
     * Somebody is at it until then.
     */
    lease_until: Timestamp | null;
    delivered_at: Timestamp | null;
};
export type webhook_key = {
    webhook_id: string;
    number: number;
    key_id: string;
    sealed_key: Buffer;
    sealed: Buffer;
    expires_at: Timestamp | null;
};
export type DB = {
    attempt: attempt;
    drive: drive;
    drive_check: drive_check;
    drive_commit: drive_commit;
    drive_event: drive_event;
    drive_removal: drive_removal;
    idempotency_key: idempotency_key;
    job: job;
    job_definition: job_definition;
    job_definition_version: job_definition_version;
    job_event: job_event;
    lease: lease;
    log_block: log_block;
    log_segment: log_segment;
    log_stream: log_stream;
    log_work: log_work;
    project: project;
    replica: replica;
    scheduler_health: scheduler_health;
    secret: secret;
    setting: setting;
    webhook: webhook;
    webhook_attempt: webhook_attempt;
    webhook_delivery: webhook_delivery;
    webhook_key: webhook_key;
};
