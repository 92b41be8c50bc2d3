import { usage } from '../exit.js';
import { issueOpened, ping, pullRequestOpened, push } from './github.js';

/** An event as a forge sends it, to try a hook with. */
export interface Sample {
  /** As `X-GitHub-Event`. */
  event: string;
  payload: object;
}

const samples: Record<string, Sample> = {
  'github/ping': { event: 'ping', payload: ping },
  'github/issues.opened': { event: 'issues', payload: issueOpened },
  'github/pull_request.opened': { event: 'pull_request', payload: pullRequestOpened },
  'github/push': { event: 'push', payload: push },
};

export const sampleNames = Object.keys(samples);

/** Usage: there is no such sample. */
export const sampleOf = (name: string): Sample => {
  const sample = samples[name];
  if (sample) return sample;
  throw usage(`There is no sample "${name}".`, `There are: ${sampleNames.join(', ')}`);
};
