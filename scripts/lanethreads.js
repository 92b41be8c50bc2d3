import { EventEmitter } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';

const THREAD = new URL('lanethread.js', import.meta.url);
/** Threads that wait for a script. */
const idle = [];

/**
 * A Worker for a database, of which a lane starts thousands. To start a thread and compile its code
 * takes half the processor time of an app's start, so threads are reused. Each use evaluates the
 * script anew, with its own port and data.
 */
export class ReusedWorker extends EventEmitter {
  #thread;
  #port;
  /** Whether the thread may have left files open. */
  #isSpent = false;
  #isApart = false;
  #heard = Object.entries({
    error: (error) => this.emit('error', error),
    exit: (code) => this.emit('exit', code),
    message: () => this.#part(),
  });

  constructor(script, { workerData, resourceLimits }) {
    super();
    this.#thread = idle.pop() ?? new Worker(THREAD, { resourceLimits });
    for (const [event, hear] of this.#heard) this.#thread.on(event, hear);
    const { port1, port2 } = new MessageChannel();
    this.#port = port1
      .on('message', (message) => {
        if (message?.kind === 'refused') this.#isSpent = true;
        this.emit('message', message);
      })
      .once('close', () => this.#part());
    this.#thread.postMessage({ script: String(script), port: port2, workerData }, [port2]);
  }

  postMessage(message) {
    this.#port.postMessage(message);
  }

  terminate() {
    this.#isSpent = true;
    return this.#thread.terminate();
  }

  /** Called when each side has seen the end of the port, in any order. */
  #part() {
    if (this.#isApart) this.#leave();
    this.#isApart = true;
  }

  #leave() {
    if (this.#isSpent) {
      this.#thread.terminate();
      return;
    }
    for (const [event, hear] of this.#heard) this.#thread.off(event, hear);
    idle.push(this.#thread);
    this.emit('exit', 0);
  }
}
