import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { TaskReply } from '../../kernel/pool.js';
import { knowledgeTasks } from './tasks.js';

const port = parentPort;
if (!port) throw new Error('The knowledge thread must be started by its pool');

// On Linux each thread has its own nice value (setpriority(2), C library/kernel differences).
if (typeof workerData === 'number' && process.platform === 'linux') setPriority(workerData);

const perform = async (task: keyof typeof knowledgeTasks, input: never): Promise<TaskReply> => {
  try {
    return { value: await knowledgeTasks[task](input) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
};

port.on('message', async ({ task, input }: { task: keyof typeof knowledgeTasks; input: never }) =>
  port.postMessage(await perform(task, input)),
);
