import type { AgentRow } from '../../store/tables/agents.js';
import { FINISHED } from '../agent.js';
import type { ChatAnswer } from './contract.js';

/** Returns an agent's present answer as the API shows it. */
export const viewAnswer = ({ id, session_id, status, result, error }: AgentRow): ChatAnswer => ({
  sessionId: session_id,
  agentId: id,
  message: FINISHED.includes(status) ? result : null,
  status,
  error,
});
