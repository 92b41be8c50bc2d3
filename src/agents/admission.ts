import {
  type ApprovalRequest,
  approvalRows,
  callDigest,
  type ExactCall,
} from '../approvals/module.js';
import type { RegisteredModel } from '../models/module.js';
import type { CallerTrust } from '../permissions/module.js';
import { cliGrant, cliTools, findCliTool } from '../providers/clitools/tools.js';
import type { AgentRow } from '../store/tables/agents.js';
import type { ApprovalRow } from '../store/tables/permissions.js';
import type { ModelConstraints } from './models.js';
import type { AgentRun, Interruption, LoopDeps } from './run.js';
import { type AgentFacts, readFacts } from './snapshot.js';
import { agentTrust } from './taint.js';
import { buildApprovalRequest, waitForOwner } from './waitforapproval.js';

export const MODEL_GRANTS = Object.values(cliTools).map(cliGrant);

/**
 * Returns the models that may answer the agent. A command-line tool has a login and network access,
 * so an untrusted agent needs a grant of its hook or an approval of the owner for it. The approval
 * covers the model for the life of the agent. A denial is final.
 */
export const findModelConstraints = async (
  deps: LoopDeps,
  run: AgentRun,
  facts: Pick<AgentFacts, 'now'>,
): Promise<ModelConstraints | Interruption> => {
  const { agent } = run;
  const { user_id: userId, model, topic } = agent;
  const trust = agentTrust(facts.now);
  const { isUntrusted } = trust;
  if (!isUntrusted) return { userId, model, topic, isUntrusted, barred: () => null };
  const approvals = await approvalRows(deps.store).ofCalls(
    agent.id,
    deps.access.models.cliNames().map(buildCallId),
  );
  const barred = (entry: RegisteredModel) => ineligibleReason({ agent, trust, approvals }, entry);
  const first = deps.access.models.first({ userId, model, topic, isUntrusted });
  const isOpen =
    first && barred(first) !== null && !isDecided(approvals.get(buildCallId(first.name)));
  if (!isOpen) return { userId, model, topic, isUntrusted, barred };
  const isAsked = approvals.has(buildCallId(first.name));
  const outcome = await waitForOwner(deps, run, {
    questions: isAsked ? [] : [buildCliApprovalRequest(agent, first)],
    waiting: isAsked ? 1 : 0,
  });
  return outcome === 'again'
    ? findModelConstraints(deps, run, await readFacts(deps, run))
    : outcome;
};

const ineligibleReason = (
  of: { agent: AgentRow; trust: CallerTrust; approvals: Map<string, ApprovalRow> },
  entry: RegisteredModel,
): string | null => {
  const { agent, trust, approvals } = of;
  if (entry.provider !== 'cli') return null;
  const tool = findCliTool(entry.modelId)?.tool;
  if (tool && trust.granted.has(cliGrant(tool))) return null;
  const approval = approvals.get(buildCallId(entry.name));
  const isApproved = approval?.status === 'approved';
  if (isApproved && approval.digest === callDigest(buildCliCall(agent, entry))) return null;
  return 'it is a command-line tool, which an untrusted agent may use only with an approval';
};

const isDecided = (approval: ApprovalRow | undefined): boolean =>
  approval !== undefined && approval.status !== 'pending';

/** No model can give a call of its own such an ID. */
const buildCallId = (name: string): string => `cli:${name}`;

const buildCliCall = (agent: AgentRow, { name, modelId }: RegisteredModel): ExactCall => ({
  agentId: agent.id,
  tool: 'cli',
  action: findCliTool(modelId)?.tool.name ?? modelId,
  arguments: { model: name, modelId },
});

const buildCliApprovalRequest = (agent: AgentRow, entry: RegisteredModel): ApprovalRequest =>
  buildApprovalRequest(agent, buildCliCall(agent, entry), {
    callId: buildCallId(entry.name),
    reason: 'its model is a command-line tool, and the agent has read untrusted content',
    isUntrusted: true,
    grantScopes: [],
  });
