import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { AgentFigures } from './agentwork.js';

const WORK = fileURLToPath(new URL('./agentwork.js', import.meta.url));

/** What the loop of agents itself costs, with a model that answers at once, and 200 of them at once. */
export const measureAgents = async (): Promise<Record<string, string>> => {
  const { stdout } = await promisify(execFile)(process.execPath, [WORK]);
  const figures: AgentFigures = JSON.parse(stdout);
  const { stepMs, stepsPerSecond, idleMb, heldMb, endedMb } = figures;
  return {
    'one agent': `${stepMs.toFixed(2)} ms a step`,
    '200 at once': `${Math.round(stepsPerSecond)} steps/s`,
    'memory idle': `${idleMb} MB`,
    '200 in a question': `${heldMb} MB`,
    'after them': `${endedMb} MB`,
  };
};
