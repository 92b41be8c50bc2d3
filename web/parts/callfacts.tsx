import type { Agent } from '../../src/agents/contract.js';
import type { Approval } from '../../src/kernel/contract/approval.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { ask } from '../state/api.js';
import { useLoad } from '../state/load.js';
import { visibleText } from './json.js';
import { Fact } from './notes.js';

export interface CalledTool {
  tool: string;
  action: string;
  arguments: Record<string, unknown>;
  /** Facts that the tool adds to the arguments. */
  details?: Approval['details'];
}

/** Tools that send to the address in `url` and nowhere else. */
const REQUESTS = ['http.request', 'web.read'];

/** Whether a call is one request to the address in its arguments. */
export const isHttpRequestCall = ({ tool, action }: Pick<CalledTool, 'tool' | 'action'>): boolean =>
  REQUESTS.includes(`${tool}.${action}`);

/** Host and port that a call sends to. `null` if the arguments do not say. */
export const callHost = (call: CalledTool): string | null => {
  const { url } = call.arguments;
  if (!isHttpRequestCall(call)) return null;
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).host : null;
};

/** The requesting agent, and what started it. */
export const RequesterFacts = ({ agentId }: { agentId: string | null }) =>
  agentId === null ? (
    <Fact name="Requested by">You (direct call)</Fact>
  ) : (
    <RequestingAgent id={agentId} />
  );

const RequestingAgent = ({ id }: { id: string }) => {
  const agent = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/agents/{id}', { id }, signal),
  });
  return (
    <>
      <Fact name="Requested by">
        <a href={pageLink('agent', id)}>
          {agent.data ? `Agent ${visibleText(agent.data.name)}` : 'The agent and its transcript'}
        </a>
      </Fact>
      {agent.data && (
        <Fact name="Agent started by">
          <AgentOrigin agent={agent.data} />
        </Fact>
      )}
    </>
  );
};

const AgentOrigin = ({ agent: { executionId, hookId, parentId } }: { agent: Agent }) => {
  if (executionId !== null) {
    return <a href={pageLink('execution', executionId)}>A hook execution</a>;
  }
  if (parentId !== null) return <a href={pageLink('agent', parentId)}>Another agent</a>;
  if (hookId === null) return <>You</>;
  return (
    <a href={`${pageLink('executions')}?${new URLSearchParams({ hookId })}`}>One of your hooks</a>
  );
};
