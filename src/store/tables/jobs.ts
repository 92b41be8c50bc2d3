export interface JobRow {
  id: number;
  kind: string;
  ref: string;
  lane: string;
  run_at: string;
  attempts: number;
  boot: string | null;
}

export interface IdempotencyRow {
  user_id: string;
  route: string;
  key: string;
  body_digest: string;
  /** The status of the reply. null: the first call is still running. */
  status: number | null;
  reply: string | null;
  created_at: string;
}
