import type { Expert } from '../experts/expert.js';
import type { FieldFault } from '../kernel/problem.js';
import type { Models } from './models.js';

/** What somebody asks of an agent that is to begin. */
export interface AgentRequest {
  model?: string;
  /** undefined: one was named and is not there; null: none was named. */
  expert: Expert | null | undefined;
}

/** What is wrong with that, each fault with the field of the request. */
export const agentFaults = (models: Models, { model, expert }: AgentRequest): FieldFault[] => {
  const faults: FieldFault[] = [];
  if (model !== undefined && !models.has(model)) {
    const message = `names no model; there are: ${models.names().join(', ')}`;
    faults.push({ path: 'model', message });
  }
  if (expert === undefined) {
    faults.push({ path: 'expertId', message: 'is the id of no expert; see GET /api/experts' });
  }
  return faults;
};
