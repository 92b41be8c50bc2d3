import type { Base } from '../../base.js';
import { iso } from '../../kernel/clock.js';
import { getAddressHeader } from '../../providers/tunnels/providers.js';
import { checkCertificate, checkName } from './certificate.js';
import { STAGES, type TunnelCheck } from './contract.js';
import { checkReach, checkSigned, checkUnsigned } from './delivery.js';
import { checkExposure, isUnmarked } from './exposure.js';
import type { Probe, Probes } from './probes.js';
import { deliverThroughTunnel } from './request.js';
import {
  type CheckStage,
  StageFailed,
  type StageInput,
  type StageName,
  type StageOutcome,
} from './stage.js';
import type { TunnelState } from './state.js';

interface CheckDeps {
  state: TunnelState;
  probes: Probes;
  addresses: { address(): string | null; upstream(): string };
  checked(): void;
}

export const createCheck = ({ http, clock }: Base, deps: CheckDeps) => {
  let last: TunnelCheck | null = null;
  let checking: Promise<TunnelCheck | null> | null = null;

  const inputOf = (address: string, probe: Probe): Omit<StageInput, 'openings'> => {
    const provider = deps.state.row()?.provider ?? 'proxy';
    return {
      url: new URL(address),
      http,
      probe,
      provider,
      upstream: deps.addresses.upstream(),
      addressHeader: getAddressHeader(provider),
      now: clock.now(),
    };
  };

  const run = async (openings: StageInput['openings']): Promise<TunnelCheck | null> => {
    const address = deps.addresses.address();
    if (address === null) return null;
    const probe = deps.probes.begin();
    try {
      const result = await runStages({ ...inputOf(address, probe), openings });
      last = { ...result, address, checkedAt: iso(clock.now()) };
      await deps.state.keepReach({ address, is_ok: last.ok ? 1 : 0, checked_at: last.checkedAt });
      return last;
    } finally {
      probe.close();
      deps.checked();
    }
  };

  return {
    lastCheck: () => last,
    /** Called when the configuration changes. */
    forget: () => {
      last = null;
    },
    /** Null if there is no address yet. Only one check runs at a time; concurrent callers share it. */
    check: (openings: StageInput['openings']) => {
      checking ??= run(openings).finally(() => {
        checking = null;
      });
      return checking;
    },
    /**
     * Sends one request through the public address. True if it arrived without a proxy header; null if
     * there is no address, the provider adds no header, or nothing arrived within `replyMs`.
     */
    arrivesUnmarked: async (replyMs: number): Promise<boolean | null> => {
      const address = deps.addresses.address();
      if (address === null) return null;
      const probe = deps.probes.begin();
      try {
        const input = { ...inputOf(address, probe), openings: [], replyMs };
        if (input.addressHeader === null) return null;
        // Only the arrival counts, not the reply.
        await deliverThroughTunnel(input, probe.open).catch((error: unknown) => {
          if (!(error instanceof StageFailed)) throw error;
        });
        return isUnmarked(input, probe.open);
      } finally {
        probe.close();
      }
    },
  };
};

/** The stages after the first failure do not run. */
const runStages = async (
  input: StageInput,
): Promise<Pick<TunnelCheck, 'ok' | 'stages' | 'failure'>> => {
  const stages: CheckStage[] = [];
  let failure: TunnelCheck['failure'] = null;
  for (const name of STAGES) {
    const none = { name, status: 'not_run' as const, detail: '', latencyMs: null };
    if (failure) {
      stages.push(none);
      continue;
    }
    try {
      const { status = 'ok', detail, latencyMs } = await runs[name](input);
      stages.push({ name, status, detail, latencyMs: latencyMs && Math.round(latencyMs) });
    } catch (error) {
      if (!(error instanceof StageFailed)) throw error;
      stages.push({ ...none, status: 'failed', detail: error.fault.seen });
      failure = { stage: name, ...error.fault };
    }
  }
  return { ok: failure === null, stages, failure };
};

const runs: Record<StageName, (input: StageInput) => Promise<StageOutcome>> = {
  name: checkName,
  certificate: checkCertificate,
  'reaches us': checkReach,
  unsigned: checkUnsigned,
  signed: checkSigned,
  exposed: checkExposure,
};
