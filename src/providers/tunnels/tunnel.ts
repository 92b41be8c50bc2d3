/**
 * A provider's settings beside the address and the token. They are checked before they are stored.
 */
export interface TunnelSettings {
  /** The name of a tunnel from `cloudflared tunnel create`. */
  name?: string;
  /** The server: `ada@box.example.org`, or a host of the ssh configuration. */
  target?: string;
  sshPort?: number;
  /** The port on the server's loopback on which the forward listens. */
  remotePort?: number;
  /** The absolute path of the key; by default ssh chooses. */
  identityFile?: string;
  /** The host keys, `ssh-ed25519 AAAA…`; by default those in this account's known_hosts. */
  hostKeys?: string[];
}

/** One run of a tunnel's program. */
export interface TunnelRun {
  settings: TunnelSettings;
  /** The permanent address as an origin; null for the address that the provider assigns. */
  publicUrl: string | null;
  /** The daemon's port on loopback. */
  port: number;
  token: string | null;
  /** The path of a file with the host keys of the settings; null if there are none. */
  knownHosts: string | null;
}

/** The meaning of one line of the program's output. */
export interface TunnelOutput {
  isUp?: true;
  /** The public address that the provider reports, as an origin. */
  url?: string;
  /** The text for the log; null if it is not worth keeping. */
  line: string | null;
}

/** A path from a public address to this daemon, through a program that connects outwards. */
export interface TunnelProvider {
  program: 'cloudflared' | 'ngrok' | 'tailscale' | 'ssh';
  /** The arguments that print its version. */
  version: string[];
  /** The header with a client's address, in lower case; null if there is none. */
  addressHeader: string | null;
  /** Returns the arguments. Values of the settings never stand where an option could. */
  args(run: TunnelRun): string[];
  /**
   * Returns variables beside PATH, HOME and LANG. Secrets are passed here, since no list of
   * processes shows them.
   */
  env(run: TunnelRun): Record<string, string>;
  hear(line: string): TunnelOutput;
}

/** Returns the daemon's address for a program on this machine. */
export const tunnelOrigin = ({ port }: Pick<TunnelRun, 'port'>): string =>
  `http://127.0.0.1:${port}`;
