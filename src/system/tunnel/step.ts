import type { Http } from '../../kernel/http.js';
import type { ProviderName } from '../../providers/tunnels/providers.js';
import type { Probe } from './probes.js';

export const STAGES = [
  'name',
  'certificate',
  'reaches us',
  'unsigned',
  'signed',
  'exposed',
] as const;
export type StageName = (typeof STAGES)[number];

export interface CheckStage {
  name: StageName;
  status: 'ok' | 'warn' | 'failed' | 'not_run';
  detail: string;
  /** Duration of the round trip; null if there was none. */
  latencyMs: number | null;
}

/** The reason why a stage failed, and what to do about it. */
export interface Failure {
  stage: StageName;
  /** The observation. */
  seen: string;
  cause: string;
  remedy: string;
}

/** The input of a stage. */
export interface StepInput {
  /** The public address. */
  url: URL;
  http: Http;
  probe: Probe;
  provider: ProviderName;
  /** Address to which the far end of the tunnel must send requests: `127.0.0.1:8305`. */
  upstream: string;
  addressHeader: string | null;
  /** Time for the certificate's age, in milliseconds since 1970. */
  now: number;
  /**
   * Sentences about what the settings leave open to unauthenticated clients, with their remedies.
   */
  openings: ExposedOpening[];
}

/** Something that unauthenticated clients can do and perhaps should not. */
export interface ExposedOpening {
  seen: string;
  remedy: string;
}

export type StepOutcome = Pick<CheckStage, 'detail' | 'latencyMs'> & {
  status?: CheckStage['status'];
};

/** The error for a stage that found a fault. */
export class StageFailed extends Error {
  override name = 'StageFailed';

  constructor(
    readonly seen: string,
    readonly why: string,
    readonly remedy: string,
  ) {
    super(seen);
  }
}

export const receiverAt = ({ url }: Pick<StepInput, 'url'>, path: string): string =>
  `${url.origin}/api/webhooks/${path}`;
