import { lookAtCertificate, lookAtName } from './certificate.js';
import { deliverSigned, refuseUnsigned } from './delivery.js';
import { lookAround } from './exposure.js';
import { reachUs } from './reach.js';
import {
  type CheckStage,
  type Failure,
  STAGES,
  StageFailed,
  type StageName,
  type StepInput,
  type StepOutcome,
} from './step.js';

export interface CheckResult {
  /** True if no stage failed. */
  ok: boolean;
  stages: CheckStage[];
  /** The first stage that failed, and what to do. */
  failure: Failure | null;
}

/**
 * Checks the way from outside to the daemon, stage by stage. The stages after the first failure do
 * not run.
 */
export const checkWay = async (asking: StepInput): Promise<CheckResult> => {
  const stages: CheckStage[] = [];
  for (const name of STAGES) {
    try {
      stages.push(stageOf(name, await looks[name](asking)));
    } catch (error) {
      if (!(error instanceof StageFailed)) throw error;
      return failedAt(stages, name, error);
    }
  }
  return { ok: true, stages, failure: null };
};

const looks: Record<StageName, (asking: StepInput) => Promise<StepOutcome>> = {
  name: lookAtName,
  certificate: lookAtCertificate,
  'reaches us': reachUs,
  unsigned: refuseUnsigned,
  signed: deliverSigned,
  exposed: lookAround,
};

const stageOf = (
  name: StageName,
  { status = 'ok', detail, latencyMs }: StepOutcome,
): CheckStage => ({
  name,
  status,
  detail,
  latencyMs: latencyMs === null ? null : Math.round(latencyMs),
});

const failedAt = (before: CheckStage[], name: StageName, error: StageFailed): CheckResult => {
  const { seen, why: cause, remedy } = error;
  const rest = STAGES.slice(before.length + 1);
  return {
    ok: false,
    stages: [
      ...before,
      { name, status: 'failed', detail: seen, latencyMs: null },
      ...rest.map(
        (each): CheckStage => ({ name: each, status: 'not_run', detail: '', latencyMs: null }),
      ),
    ],
    failure: { stage: name, seen, cause, remedy },
  };
};
