import type * as Lab from '@hapi/lab';

type Hooks = Pick<ReturnType<typeof Lab.script>, 'before' | 'after'>;

/**
 * Opens a stage before the tests of the current `describe`, and stops it after them. Only tests and
 * later hooks can use what is returned: it forwards to the stage, which does not exist before.
 */
export const openForSuite = <T extends { stop(): Promise<void> }>(
  { before, after }: Hooks,
  open: () => Promise<T>,
): T => {
  let stage: T;
  before(async () => {
    stage = await open();
  });
  after(() => stage.stop());
  const proxy: T = new Proxy({} as T, {
    get: (_, key) => Reflect.get(stage, key),
    // An object whose prototype is the proxy has its own values.
    set: (_, key, value, receiver) =>
      Reflect.set(stage, key, value, receiver === proxy ? stage : receiver),
    has: (_, key) => Reflect.has(stage, key),
    ownKeys: () => Reflect.ownKeys(stage),
    getOwnPropertyDescriptor: (_, key) => Reflect.getOwnPropertyDescriptor(stage, key),
  });
  return proxy;
};
