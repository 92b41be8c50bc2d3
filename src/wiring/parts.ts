import type { createIdentify } from '../accounts/auth/identity.js';
import type { AuthStore } from '../accounts/auth/queries.js';
import type { SetupCode } from '../accounts/auth/setupcode.js';
import type { Tickets } from '../accounts/auth/tickets.js';
import type { Config } from '../config.js';
import type { PayloadPool } from '../hooks/payloads/pool.js';
import type { Sockets } from '../http/socket/socketserver.js';
import type { Clock } from '../kernel/clock.js';
import type { Http } from '../kernel/http.js';
import type { Passwords } from '../kernel/password.js';
import type { LogRing } from '../kernel/ring.js';
import type { Confinement } from '../providers/confine/confinement.js';
import type { createProof } from '../secrets/masterkeyproof.js';
import type { Rekey } from '../secrets/rekey.js';
import type { createSealers } from '../secrets/sealers.js';
import type { Signer } from '../secrets/tokensigner.js';
import type { OutsideHeads } from '../store/externalheads.js';
import type { Store } from '../store/store.js';
import type { Tunnel } from '../system/tunnel/tunnel.js';
import type { Runtime } from './runtime.js';

/** The parts of the daemon; each resource is given those that it needs. */
export interface Parts {
  config: Config;
  clock: Clock;
  store: Store;
  http: Http;
  payloads: PayloadPool;
  /** The files outside the home that also receive the heads of the audit log. */
  heads: OutsideHeads;
  runtime: Runtime;
  sockets: Sockets;
  recent: LogRing;
  state: { isDraining: boolean; since: number };
  users: AuthStore;
  passwords: Passwords;
  signer: Signer;
  identify: ReturnType<typeof createIdentify>;
  tickets: Tickets;
  setup: SetupCode;
  secrets: ReturnType<typeof createSealers>;
  rekey: Rekey;
  /** Checks that the master key opens the sealed values. */
  prove: ReturnType<typeof createProof>;
  confinement: Confinement | null;
  tunnel: Tunnel;
  wait(ms: number): Promise<unknown>;
  /** The port that it listens on. */
  port(): number;
}
