import type { Pool, Tasks } from './pool.js';
import type { PoolReply, PoolRequest } from './poolprocess.js';

/** A request for a task of these pools. */
interface TypedRequest<T extends Tasks> extends PoolRequest {
  task: keyof T & string;
  input: Parameters<T[keyof T & string]>[0];
}

/**
 * Serves pools to the daemon that started this process, until that ends or closes it. Signals that a
 * terminal or a service manager sends to all processes are left to the daemon.
 */
export const servePools = <T extends Tasks>(pools: Record<string, Pool<T>>): void => {
  const perform = async ({ pool, asker, task, input }: TypedRequest<T>): Promise<unknown> => {
    const asked = pools[pool];
    if (!asked) throw new Error(`Unknown pool: ${pool}`);
    return asked.run(asker, task, input);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ignore);
  process.on('disconnect', () => process.exit());
  // The daemon may have ended while this process was loading.
  if (!process.connected) process.exit();
  process.on('message', async (request: TypedRequest<T>) => {
    const reply: PoolReply = await perform(request).then(
      (value) => ({ id: request.id, value }),
      ({ name, message }: Error) => ({ id: request.id, name, message }),
    );
    // The daemon may have ended meanwhile.
    process.send?.(reply, undefined, undefined, ignore);
  });
};

const ignore = (): void => undefined;
