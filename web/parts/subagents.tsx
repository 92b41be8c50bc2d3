import { useRef } from 'preact/hooks';
import type { Agent } from '../../src/agents/contract.js';
import { numberAt } from '../../src/kernel/jsonvalue.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { agentIdOfEvent } from '../state/agentevents.js';
import { ask } from '../state/api.js';
import { useLoad } from '../state/load.js';
import { visibleText } from './json.js';
import { Failure, State, UntrustedMark } from './notes.js';

/** Maximum sub-agents listed. An agent may have a hundred. */
const MAX_SUB_AGENTS = 100;

/** Sub-agents in the order in which they were spawned. Nothing without any. */
export const SubAgents = ({ id }: { id: string }) => {
  const known = useRef<readonly Agent[]>([]);
  const tree = useLoad<Agent[]>({
    key: id,
    load: async (signal) => {
      const query = { rootId: id, limit: MAX_SUB_AGENTS };
      const { agents } = await ask('GET', '/api/agents', { query }, signal);
      return agents.filter((agent) => agent.id !== id).reverse();
    },
    topics: ['agent.status'],
    // The first event of an agent, which may be a new sub-agent.
    concerns: (event) =>
      numberAt(event, 'id') === 1 ||
      known.current.some((agent) => agent.id === agentIdOfEvent(event)),
  });
  known.current = tree.data ?? [];
  if (tree.error) return <Failure error={tree.error} retry={() => void tree.reload()} />;
  if (known.current.length === 0) return null;
  return (
    <>
      <h2>Sub-agents</h2>
      <ul class="cards">
        {known.current.map((agent) => (
          <li key={agent.id} class="card">
            <p class="line">
              <State of={agent.status} />
              {agent.untrusted && <UntrustedMark />}
              <a class="tap" href={pageLink('agent', agent.id)}>
                {visibleText(agent.name)}
              </a>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
};
