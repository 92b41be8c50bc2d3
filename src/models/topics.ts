import type { Statement } from '../store/engine/protocol.js';
import type { ModelsDeps } from './deps.js';
import { DEFAULT_FALLBACK, type TopicRoute } from './registry.js';

export const topicStatements = (
  { registry, models }: ModelsDeps,
  name: string,
  topics: string[],
): Statement[] => {
  const routes = registry.routes();
  const left = routes.filter(({ topic, primary }) => primary === name && !topics.includes(topic));
  const taken = topics.map((topic) => {
    const { fallbacks = [] } = routes.find((route) => route.topic === topic) ?? {};
    return { topic, primary: name, fallbacks: fallbacks.filter((each) => each !== name) };
  });
  return [...left.map(({ topic }) => models.removeRoute(topic)), ...taken.map(models.setRoute)];
};

/**
 * The next model of a route moves up. An empty route, or one that starts with the default, is
 * deleted.
 */
export const modelRemovalStatements = (
  { registry, models }: ModelsDeps,
  name: string,
): Statement[] => {
  const routes = registry.routes().filter((route) => namesIn(route).includes(name));
  return [
    ...routes.map((route) => {
      const [primary, ...fallbacks] = namesIn(route).filter((each) => each !== name);
      const { topic } = route;
      return primary === undefined || primary === DEFAULT_FALLBACK
        ? models.removeRoute(topic)
        : models.setRoute({ topic, primary, fallbacks });
    }),
    ...registry.withFallback(name).map((entry) =>
      models.setFallbacks(
        entry.name,
        entry.fallbacks.filter((each) => each !== name),
      ),
    ),
  ];
};

const namesIn = ({ primary, fallbacks }: TopicRoute): string[] => [primary, ...fallbacks];
