/** Settings of a provider beside address and token. They are validated before they are stored. */
export interface TunnelSettings {
  /** Name of a tunnel from `cloudflared tunnel create`. */
  name?: string;
  /** `ada@box.example.org`, or a host of the ssh configuration. */
  target?: string;
  sshPort?: number;
  /** Port on the loopback of the server at which the forward listens. */
  remotePort?: number;
  /** Absolute path. By default ssh chooses the key. */
  identityFile?: string;
  /** `ssh-ed25519 AAAA…`. By default those in known_hosts of this user. */
  hostKeys?: string[];
}

export interface TunnelRun {
  settings: TunnelSettings;
  /** Permanent address as an origin; null if the provider assigns one. */
  publicUrl: string | null;
  port: number;
  token: string | null;
  /** Path of a file with the host keys of the settings; null if there are none. */
  knownHosts: string | null;
}

export interface TunnelOutput {
  isUp?: true;
  /** The public address that the program reports, as an origin. */
  url?: string;
  /** Text for the log; null to omit the line. */
  line: string | null;
}

/** A program that connects outwards and forwards requests for a public address to this daemon. */
export interface TunnelProvider {
  program: 'cloudflared' | 'ngrok' | 'tailscale' | 'ssh';
  version: string[];
  /** Header that carries the client address, in lower case; null if there is none. */
  addressHeader: string | null;
  /** Values of the settings are never placed where an option could be. */
  args(run: TunnelRun): string[];
  /** Variables beside PATH, HOME and LANG. Secrets are passed here, since `ps` does not show them. */
  env(run: TunnelRun): Record<string, string>;
  hear(line: string): TunnelOutput;
}

/** The address of the daemon for a program on this machine. */
export const tunnelOrigin = ({ port }: Pick<TunnelRun, 'port'>): string =>
  `http://127.0.0.1:${port}`;
