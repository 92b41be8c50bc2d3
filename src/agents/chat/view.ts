import type { AgentRow } from '../../store/tables/agents.js';
import { FINISHED } from '../agent.js';
import type { ChatAnswer } from './contract.js';

/** What an agent has answered by now. */
export const viewAnswer = ({ id, session_id, status, result, error }: AgentRow): ChatAnswer => ({
  sessionId: session_id,
  agentId: id,
  message: FINISHED.includes(status) ? result : null,
  status,
  error,
});
