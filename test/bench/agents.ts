import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { AgentFigures } from './agentwork.js';

const WORK = fileURLToPath(new URL('./agentwork.js', import.meta.url));

/** What the loop of agents itself costs, with a model that answers at once, and 200 of them at once. */
export const measureAgents = async (): Promise<AgentFigures> => {
  const { stdout } = await promisify(execFile)(process.execPath, [WORK]);
  return JSON.parse(stdout);
};
