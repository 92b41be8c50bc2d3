import { parentPort } from 'node:worker_threads';
import type { TaskReply } from '../../kernel/pool.js';
import { payloadTasks } from './tasks.js';

const port = parentPort;
if (!port) throw new Error('A thread for payloads is started by its pool');

const perform = (task: keyof typeof payloadTasks, input: never): TaskReply => {
  try {
    return { value: payloadTasks[task](input) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
};

port.on('message', ({ task, input }: { task: keyof typeof payloadTasks; input: never }) =>
  port.postMessage(perform(task, input)),
);
