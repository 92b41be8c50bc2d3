import type { Pool, Tasks } from './pool.js';
import type { PoolReply, PoolRequest } from './poolprocess.js';

interface TypedRequest<T extends Tasks> extends PoolRequest {
  task: keyof T & string;
  input: Parameters<T[keyof T & string]>[0];
}

/**
 * Ignores signals that a terminal or service manager sends to all processes. The daemon ends this
 * process.
 */
export const servePools = <T extends Tasks>(pools: Record<string, Pool<T>>): void => {
  const perform = async ({ pool, asker, task, input }: TypedRequest<T>): Promise<unknown> => {
    const target = pools[pool];
    if (!target) throw new Error(`Unknown pool: ${pool}`);
    return target.run(asker, task, input);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ignore);
  process.on('disconnect', () => process.exit());
  // The daemon may have ended during loading.
  if (!process.connected) process.exit();
  process.on('message', async (request: TypedRequest<T>) => {
    const reply: PoolReply = await perform(request).then(
      (value) => ({ id: request.id, value }),
      ({ name, message }: Error) => ({ id: request.id, name, message }),
    );
    process.send?.(reply, undefined, undefined, ignore);
  });
};

const ignore = (): void => undefined;
