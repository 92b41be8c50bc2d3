/** How others reach this daemon; there is one row at most. */
export interface TunnelRow {
  id: 'tunnel';
  provider: 'cloudflared' | 'ngrok' | 'tailscale' | 'ssh' | 'proxy';
  /** JSON: what the provider needs to know, none of it secret. */
  settings: string;
  /** The lasting address, as an origin; null: none, or a setting of the daemon tells. */
  public_url: string | null;
  token_sealed: string | null;
  /** A vault entry in place of a token of its own. */
  credential_id: string | null;
  is_on: number;
  /** JSON: number and beginning of the process that runs on its behalf. */
  process: string | null;
  updated_at: string;
}

/** The last check of the address at which others reach this daemon; one row at most. */
export interface TunnelReachRow {
  id: 'reach';
  address: string;
  is_ok: number;
  checked_at: string;
}
