import type { Server, ServerRoute } from '@hapi/hapi';

export interface RouteGroup {
  paths: string[];
  routes(): ServerRoute[];
}

/**
 * At the first request to an area such as `/api/hooks`, because hapi takes 0.8 ms for each of 200
 * routes.
 */
export const addLazily = (server: Server, groups: readonly RouteGroup[]): void => {
  const waiting = new Map<string, Set<RouteGroup>>();
  for (const group of groups) {
    for (const path of group.paths) {
      const area = parseAreaPath(path);
      if (area.includes('{')) throw new Error(`The path ${path} must not begin with a parameter`);
      waiting.set(area, (waiting.get(area) ?? new Set()).add(group));
    }
  }
  const added = new Set<RouteGroup>();
  // hapi looks for the route after this extension.
  server.ext('onRequest', (request, h) => {
    const area = parseAreaPath(request.path);
    for (const group of waiting.get(area) ?? []) {
      if (added.has(group)) continue;
      added.add(group);
      server.route(group.routes());
    }
    waiting.delete(area);
    return h.continue;
  });
};

const parseAreaPath = (path: string): string => /^(\/api)?\/[^/]*/.exec(path)?.[0] ?? path;
