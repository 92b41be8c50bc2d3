import {
  chooseByKeywords,
  type ExpertChoice,
  expertPersona,
  questionOf,
  readChoice,
} from '../experts/module.js';
import { mint } from '../kernel/ids.js';
import { digest } from '../providers/llm/digest.js';
import type { AgentRow, SaidRow } from '../store/tables/agents.js';
import { functionName } from '../tools/module.js';
import { modelConstraintsOf } from './admission.js';
import { type AgentLimits, readPersona } from './agent.js';
import { openBudget, settleReserved } from './budget.js';
import { runCalls } from './calls.js';
import { UNTOUCHED } from './decision.js';
import type { ModelReply } from './models.js';
import { type AgentRecord, createRecord } from './record.js';
import type { AgentRows } from './rows.js';
import { type AgentRun, commitWithCost, type Interruption, type LoopDeps } from './run.js';
import { type AgentFacts, readStepFacts } from './snapshot.js';

const DELEGATE = functionName({ skillId: 'agents', name: 'delegate' });

/**
 * Performs the first step of an orchestrated agent (spec: orchestrated): it chooses an expert for
 * the task and gives the task to a sub-agent with that persona, word for word and with all tools
 * that permissions leave. If the agent may not delegate, it takes on the persona itself. Returns
 * the run to continue with.
 */
export const route = async (deps: LoopDeps, run: AgentRun): Promise<AgentRun | Interruption> => {
  const { agent } = run;
  if (agent.orchestrated !== 1) return run;
  const facts = await readStepFacts(deps, run);
  const isOwn = (row: SaidRow) => row.role === 'assistant' && row.agent_id === agent.id;
  if (facts.messages.some(isOwn)) return run;
  const [chosen, tools] = await Promise.all([
    choose(deps, run, facts),
    deps.access.toolsOf(agent, facts.permissions),
  ]);
  if (typeof chosen === 'string') return chosen;
  const { expert } = chosen.choice;
  if (!tools.specs.some(({ name }) => name === DELEGATE)) {
    const persona = JSON.stringify({ ...expertPersona(expert), tools: null });
    const made = createRecord(deps, agent).only(['running'], { expert: persona });
    const recorded = await recordChoice(deps, run, chosen, made);
    return recorded === 'gone' ? recorded : { ...run, agent: { ...agent, expert: persona } };
  }
  const call = {
    id: mint('call', deps.clock.now()).slice(-9),
    name: DELEGATE,
    arguments: { expert: expert.name, withTask: true },
  };
  const made = createRecord(deps, agent)
    .only(['running'], { expert: null })
    .message({ role: 'assistant', content: sentenceOf(chosen.choice), toolCalls: [call] });
  if ((await recordChoice(deps, run, chosen, made)) === 'gone') return 'gone';
  const open = { calls: [call], tools, ...UNTOUCHED, repetitions: 1 };
  const outcome = await runCalls(deps, run, open);
  return outcome === 'again' ? { ...run, agent: { ...agent, expert: null } } : outcome;
};

interface ChosenExpert {
  choice: ExpertChoice;
  /** The model's reply, if a model was asked to choose. */
  modelReply: ModelReply | null;
}

/**
 * Chooses an expert: the one that the owner named, otherwise the one that a model chooses,
 * otherwise by keywords if there is no model or it names none.
 */
const choose = async (
  deps: LoopDeps,
  run: AgentRun,
  facts: AgentFacts,
): Promise<ChosenExpert | Interruption> => {
  const { agent, signal } = run;
  const experts = await deps.access.experts.list(agent.user_id);
  const own = agent.expert === null ? null : readPersona(agent.expert);
  const owners = own && experts.find(({ id }) => id === own.id);
  if (owners) {
    const because = 'named by the owner';
    return { choice: { expert: owners, by: 'owner', because }, modelReply: null };
  }
  const { maxAnswerTokens: maxOutputTokens }: AgentLimits = JSON.parse(agent.limits);
  const turns = questionOf(agent.prompt, experts);
  const wanted = await modelConstraintsOf(deps, run, facts);
  if (typeof wanted === 'string') return wanted;
  // Keywords choose if no model does.
  const step = { turns, tools: [], maxOutputTokens, signal, isDigestEnough: true };
  const modelReply = await deps.access.models.ask(wanted, step, openBudget(deps, run));
  if (modelReply === 'gone') return modelReply;
  const isModel = modelReply.model !== digest.name;
  const read = isModel ? readChoice(modelReply.reply.text, experts) : null;
  return { choice: read ?? chooseByKeywords(agent.prompt, experts), modelReply };
};

/** Adds the choice and its cost to a record, and commits it. */
const recordChoice = (
  deps: LoopDeps,
  { activeMs }: AgentRun,
  { choice, modelReply }: ChosenExpert,
  record: AgentRecord,
): Promise<'again' | 'gone'> => {
  const cost = modelReply
    ? settleReserved(deps, modelReply.reserved, { ...modelReply, usage: modelReply.reply.usage })
    : [];
  const { expert, by, because } = choice;
  record.only(['running'], { active_ms: activeMs() }).event('agent.message', {
    role: 'assistant',
    content: sentenceOf(choice),
    expert: { id: expert.id, name: expert.name },
    chosenBy: by,
    because,
    ...(modelReply && {
      step: modelReply.reserved.step,
      model: modelReply.model,
      ...(modelReply.passedOver.length > 0 && { passedOver: modelReply.passedOver }),
    }),
  });
  return commitWithCost(deps, record, cost);
};

const sentenceOf = ({ expert, because }: ExpertChoice): string =>
  `Expert ${expert.name} chosen: ${because}`;

/**
 * Returns the report of an orchestrated agent. If only the digest is left to write it, the newest
 * result of a sub-agent is the report: a model may have written it, and the digest would not know
 * it.
 */
export const reported = async (
  { rows }: LoopDeps,
  { agent }: AgentRun,
  modelReply: ModelReply,
): Promise<ModelReply> => {
  if (agent.orchestrated !== 1 || modelReply.model !== digest.name) return modelReply;
  const text = await newestReport(rows, agent);
  return text === null ? modelReply : { ...modelReply, reply: { ...modelReply.reply, text } };
};

/** True if an orchestrated agent has a result of a sub-agent, so that the digest may end it. */
export const hasReport = async ({ rows }: LoopDeps, agent: AgentRow): Promise<boolean> =>
  agent.orchestrated === 1 && (await newestReport(rows, agent)) !== null;

const newestReport = async (rows: AgentRows, agent: AgentRow): Promise<string | null> => {
  const subs = await rows.under(agent.id);
  const done = subs.filter((sub) => sub.parent_id === agent.id && sub.status === 'completed');
  return done.sort((a, b) => (a.id < b.id ? -1 : 1)).at(-1)?.result || null;
};
