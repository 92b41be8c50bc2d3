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
  /** Of the round trip; null where there was none. */
  latencyMs: number | null;
}

/** Why a stage failed, and what to do about it. */
export interface Failure {
  stage: StageName;
  /** What was observed. */
  seen: string;
  cause: string;
  remedy: string;
}

/** What a stage works with. */
export interface StepInput {
  /** The public address. */
  url: URL;
  http: Http;
  probe: Probe;
  provider: ProviderName;
  /** Where something on the tunnel's far end must send requests: `127.0.0.1:8305`. */
  upstream: string;
  addressHeader: string | null;
  /** For the certificate's age, in milliseconds since 1970. */
  now: number;
  /** What of the settings is open to strangers, as sentences with their remedies. */
  openings: ExposedOpening[];
}

/** Something that strangers can do and perhaps should not. */
export interface ExposedOpening {
  seen: string;
  remedy: string;
}

export type StepOutcome = Pick<CheckStage, 'detail' | 'latencyMs'> & {
  status?: CheckStage['status'];
};

/** The stage found what breaks the way. */
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
