import {
  chooseByKeywords,
  type ExpertChoice,
  expertPersona,
  expertPrompt,
  parseExpertChoice,
} from '../experts/module.js';
import { mint } from '../kernel/ids.js';
import { digest } from '../providers/llm/digest.js';
import type { AgentRow, TranscriptMessageRow } from '../store/tables/agents.js';
import { functionName } from '../tools/module.js';
import { findModelConstraints } from './admission.js';
import { type AgentLimits, readPersona } from './agent.js';
import { openBudget, settleReserved } from './budget.js';
import { runCalls } from './calls.js';
import { NEW_CALL_STATE } from './decision.js';
import type { ModelReply } from './models.js';
import { type AgentRecord, createRecord } from './record.js';
import type { AgentRows } from './rows.js';
import { type AgentRun, commitWithCost, type Interruption, type LoopDeps } from './run.js';
import { type AgentFacts, readStepFacts } from './snapshot.js';

const DELEGATE = functionName({ skillId: 'agents', name: 'delegate' });

/**
 * First step of an orchestrated agent (spec: orchestrated): an expert is chosen and receives the
 * task verbatim as a sub-agent with all permitted tools. If the agent may not delegate, it becomes
 * that expert itself.
 */
export const routeToExpert = async (
  deps: LoopDeps,
  run: AgentRun,
): Promise<AgentRun | Interruption> => {
  const { agent } = run;
  if (agent.orchestrated !== 1) return run;
  const facts = await readStepFacts(deps, run);
  const isOwn = (row: TranscriptMessageRow) =>
    row.role === 'assistant' && row.agent_id === agent.id;
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
    .message({ role: 'assistant', content: formatExpertChoice(chosen.choice), toolCalls: [call] });
  if ((await recordChoice(deps, run, chosen, made)) === 'gone') return 'gone';
  const open = { calls: [call], tools, ...NEW_CALL_STATE, repetitions: 1 };
  const outcome = await runCalls(deps, run, open);
  return outcome === 'again' ? { ...run, agent: { ...agent, expert: null } } : outcome;
};

interface ChosenExpert {
  choice: ExpertChoice;
  modelReply: ModelReply | null;
}

/** Order: the expert that the owner named, the choice of a model, keywords. */
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
  const turns = expertPrompt(agent.prompt, experts);
  const wanted = await findModelConstraints(deps, run, facts);
  if (typeof wanted === 'string') return wanted;
  // Keywords are the fallback.
  const step = { turns, tools: [], maxOutputTokens, signal, isDigestEnough: true };
  const modelReply = await deps.access.models.ask(wanted, step, openBudget(deps, run));
  if (modelReply === 'gone') return modelReply;
  const isModel = modelReply.model !== digest.name;
  const read = isModel ? parseExpertChoice(modelReply.reply.text, experts) : null;
  return { choice: read ?? chooseByKeywords(agent.prompt, experts), modelReply };
};

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
    content: formatExpertChoice(choice),
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

const formatExpertChoice = ({ expert, because }: ExpertChoice): string =>
  `Expert ${expert.name} chosen: ${because}`;

/**
 * If only the digest is left, the newest result of a sub-agent is the report, because the digest
 * does not know it.
 */
export const withSubAgentReport = async (
  { rows }: LoopDeps,
  { agent }: AgentRun,
  modelReply: ModelReply,
): Promise<ModelReply> => {
  if (agent.orchestrated !== 1 || modelReply.model !== digest.name) return modelReply;
  const text = await newestReport(rows, agent);
  return text === null ? modelReply : { ...modelReply, reply: { ...modelReply.reply, text } };
};

/** Whether a sub-agent has returned a result, so that the digest may end the agent. */
export const hasReport = async ({ rows }: LoopDeps, agent: AgentRow): Promise<boolean> =>
  agent.orchestrated === 1 && (await newestReport(rows, agent)) !== null;

const newestReport = async (rows: AgentRows, agent: AgentRow): Promise<string | null> => {
  const subs = await rows.under(agent.id);
  const done = subs.filter((sub) => sub.parent_id === agent.id && sub.status === 'completed');
  return done.sort((a, b) => (a.id < b.id ? -1 : 1)).at(-1)?.result || null;
};
