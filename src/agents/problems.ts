import type { Expert } from '../experts/expert.js';
import type { FieldFault } from '../kernel/problem.js';
import type { Models } from './models.js';

/** A request for an agent that is to begin. */
export interface AgentRequest {
  model?: string;
  /** The named expert; undefined if it does not exist, null if none was named. */
  expert: Expert | null | undefined;
}

/** Returns the faults of the request, each with the field that it concerns. */
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
