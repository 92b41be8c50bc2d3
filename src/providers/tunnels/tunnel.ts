/** What a provider needs to know beside the address and its token; checked before it is kept. */
export interface TunnelSettings {
  /** Of a tunnel that was made with `cloudflared tunnel create`. */
  name?: string;
  /** `ada@box.example.org`, or a host of the ssh configuration. */
  target?: string;
  sshPort?: number;
  /** Where the forward listens on the server, on its loopback. */
  remotePort?: number;
  /** Absolute; else what ssh tries by itself. */
  identityFile?: string;
  /** `ssh-ed25519 AAAA…`; else what this account's known_hosts says. */
  hostKeys?: string[];
}

/** One run of a tunnel's program. */
export interface TunnelRun {
  settings: TunnelSettings;
  /** The lasting address as an origin; null: whatever the provider gives. */
  publicUrl: string | null;
  /** Of the daemon, on loopback. */
  port: number;
  token: string | null;
  /** A file that holds the host keys of the settings; null where there are none. */
  knownHosts: string | null;
}

/** What a line of the program's output tells. */
export interface TunnelOutput {
  isUp?: true;
  /** The address at which the provider says we are reached, as an origin. */
  url?: string;
  /** For the log; null: not worth keeping. */
  said: string | null;
}

/** A way from a public address to this daemon, by a program that dials out. */
export interface TunnelProvider {
  program: string;
  /** Asks it for its version. */
  version: string[];
  /** In which header it tells the address of a client, in lower case; null: in none. */
  addressHeader: string | null;
  /** Its arguments: values of the settings never stand where an option could. */
  args(run: TunnelRun): string[];
  /** On top of PATH, HOME and LANG: secrets are handed over here, where no list of processes is. */
  env(run: TunnelRun): Record<string, string>;
  hear(line: string): TunnelOutput;
}

/** Where the daemon is for a program of this machine. */
export const tunnelOrigin = ({ port }: Pick<TunnelRun, 'port'>): string =>
  `http://127.0.0.1:${port}`;
