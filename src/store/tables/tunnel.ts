/** The tunnel by which other machines reach this daemon. There is at most one row. */
export interface TunnelRow {
  id: 'tunnel';
  provider: 'cloudflared' | 'ngrok' | 'tailscale' | 'ssh' | 'proxy';
  /** The provider's settings as JSON, none of them secret. */
  settings: string;
  /** The permanent address, as an origin. null: none, or a setting of the daemon states it. */
  public_url: string | null;
  token_sealed: string | null;
  /** A vault entry that replaces a token of its own. */
  credential_id: string | null;
  is_on: number;
  /** The id and start time of the tunnel's process, as JSON. */
  process: string | null;
  updated_at: string;
}

/** The last check of the public address of this daemon. There is at most one row. */
export interface TunnelReachRow {
  id: 'reach';
  address: string;
  is_ok: number;
  checked_at: string;
}
