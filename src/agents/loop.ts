import type { Job, JobHandler } from '../jobs/module.js';
import { iso } from '../kernel/clock.js';
import { orgOf } from '../kernel/ids.js';
import { ModelFailure } from '../providers/llm/model.js';
import { isCommitted } from '../store/store.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { AgentLimits } from './agent.js';
import { LimitReached } from './budget.js';
import { finishCalls } from './calls.js';
import { endAgent } from './end.js';
import { routeToExpert } from './orchestrate.js';
import type { AgentRun, LoopDeps, LoopOutcome } from './run.js';
import { factsFromSnapshot, readStepFacts, type StepFacts } from './snapshot.js';
import { runStep } from './step.js';
import { findOpenCalls } from './turns.js';

const suspended = ({ user_id }: AgentRow): string =>
  orgOf(user_id) === null
    ? 'the account of its owner is disabled'
    : 'its organization was deleted, or is not approved';

interface Interrupts {
  /** A command has changed the status of the agent. */
  stop: AbortSignal;
  /** The daemon stops. The next start resumes the agent. */
  shutdown: AbortSignal;
}

/**
 * Each step and tool result is committed before the next one starts, so that a restart resumes
 * there. The budget is reserved before the model is called.
 */
export const createLoop = (deps: LoopDeps): JobHandler => {
  const { store, clock, hub, rows } = deps;
  const { running } = deps.live;

  const fail = async (agent: AgentRow, error: string): Promise<void> => {
    if (await isCommitted(endAgent(deps, agent, { status: 'failed', error }))) return;
    const now = await rows.byId(agent.id);
    // A sub-agent changed its status at the same moment.
    if (now?.status === 'queued' || now?.status === 'running') await fail(now, error);
  };

  const attempt = async (
    agent: AgentRow,
    facts: StepFacts,
    { stop, shutdown }: Interrupts,
  ): Promise<void> => {
    const { maxSeconds }: AgentLimits = JSON.parse(agent.limits);
    const timeLimit = deps.clock.deadline(Math.max(0, maxSeconds * 1000 - agent.active_ms));
    const signal = AbortSignal.any([stop, shutdown, timeLimit]);
    const run = { agent, signal, activeMs: meter(deps, agent) };
    try {
      if ((await work(deps, run, facts)) === 'gone') await keepTime(deps, run);
    } catch (error) {
      await keepTime(deps, run);
      if (stop.aborted) return;
      if (shutdown.aborted) throw error;
      const reason = timeLimit.aborted
        ? `time limit of ${maxSeconds} s reached`
        : failureMessage(error);
      if (reason === null) throw error;
      await fail(agent, reason);
    }
  };

  const perform = async (job: Job, interrupts: Interrupts): Promise<void> => {
    const beginning =
      job.beginning ?? (await store.call('beginAgent', { id: job.ref, at: iso(clock.now()) }));
    if (beginning.is === 'gone') return drop(job);
    const { agent } = beginning;
    if (beginning.is === 'suspended') return fail(agent, suspended(agent));
    const { number: id, data, at } = beginning.event;
    const event = { id, type: 'agent.status', agentId: agent.id, data, at } as const;
    hub.publish(agent.user_id, event.type, event);
    return attempt(agent, factsFromSnapshot(agent, beginning.snapshot), interrupts);
  };

  /** Deletes only this job, because the agent may already have a newer one. */
  const drop = async ({ id }: Job): Promise<void> => {
    await store.db.deleteFrom('jobs').where('id', '=', id).execute();
  };

  return {
    run: async (job, shutdown) => {
      const earlier = running.get(job.ref)?.ended;
      const stop = new AbortController();
      const performed = (async () => {
        await earlier;
        await perform(job, { stop: stop.signal, shutdown });
      })();
      const ended = performed.catch(() => undefined);
      const mine = { abort: () => stop.abort(), ended };
      running.set(job.ref, mine);
      try {
        await performed;
      } finally {
        if (running.get(job.ref) === mine) running.delete(job.ref);
      }
      return null;
    },
    abandon: async (job, error) => {
      const agent = await rows.byId(job.ref);
      if (agent) await fail(agent, error.message);
      await drop(job);
    },
  };
};

/** `facts` are for the first step only. */
const work = async (deps: LoopDeps, run: AgentRun, facts: StepFacts): Promise<LoopOutcome> => {
  const { calls } = findOpenCalls(facts.messages, run.agent.id);
  const finished = calls.length === 0 ? 'again' : await finishCalls(deps, run, facts);
  if (finished !== 'again') return finished;
  const routed = await routeToExpert(deps, run);
  if (typeof routed === 'string') return routed;
  const isFirst = calls.length === 0 && routed === run;
  let outcome = await runStep(deps, routed, isFirst ? facts : await readStepFacts(deps, routed));
  while (outcome === 'again') {
    outcome = await runStep(deps, routed, await readStepFacts(deps, routed));
  }
  return outcome;
};

const meter = ({ clock }: LoopDeps, { active_ms }: AgentRow): (() => number) => {
  const since = clock.now();
  return () => active_ms + Math.max(0, clock.now() - since);
};

/** The time of an aborted step counts too. */
const keepTime = async ({ store }: LoopDeps, { agent, activeMs }: AgentRun): Promise<void> => {
  await store.db
    .updateTable('agents')
    .set({ active_ms: activeMs() })
    .where('id', '=', agent.id)
    .execute();
};

const failureMessage = (error: unknown): string | null =>
  error instanceof LimitReached || error instanceof ModelFailure ? error.message : null;
