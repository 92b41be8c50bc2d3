export interface AuditRow {
  /** The number, from 1 without gaps. */
  number: number;
  id: string;
  at: string;
  actor_id: string;
  impersonator_id: string | null;
  action: string;
  target: string | null;
  outcome: 'ok' | 'denied' | 'failed';
  ip: string;
  request_id: string;
  data: string | null;
  /** HMAC-SHA256 over the whole row and the MAC of the row before, in hex. */
  mac: string;
}
