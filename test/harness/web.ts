import type { ServerResponse } from 'node:http';
import { type Listening, listen } from '../kernel/listen.js';
import type { ChatRequest, Reply } from './openai.js';
import { says, startOpenai } from './openai.js';

/** HTML of a scripted page, or a function that answers. */
export type ScriptedPage = string | ((response: ServerResponse) => void);

export interface PageVisit {
  url: string;
  at: number;
}

/** Loopback servers with scripted pages, and a search over them. */
export const startWeb = async (hosts: Record<string, ScriptedPage>[]) => {
  const visits: PageVisit[] = [];
  const servers: Listening[] = [];
  for (const pages of hosts) {
    const server: Listening = await listen(({ url = '' }, response) => {
      visits.push({ url: `${server.origin}${url}`, at: performance.now() });
      const page = pages[url];
      if (typeof page === 'function') return page(response);
      if (page === undefined) return response.writeHead(404).end('nothing here');
      const type = url === '/robots.txt' ? 'text/plain' : 'text/html; charset=utf-8';
      return response.setHeader('content-type', type).end(page);
    });
    servers.push(server);
  }
  /** Search results of each query in turn. */
  let found: string[][] = [];
  let failing = false;
  const queries: string[] = [];
  const search = await listen((request, response) => {
    const query = new URL(request.url ?? '', 'http://search').searchParams.get('q') ?? '';
    queries.push(query);
    if (failing) return response.writeHead(500).end('down');
    const results = (found.shift() ?? []).map((url, at) => {
      return { title: `Page ${at}`, url, content: 'words' };
    });
    return response.setHeader('content-type', 'application/json').end(JSON.stringify({ results }));
  });
  return {
    servers,
    visits,
    queries,
    search,
    searchUrl: `${search.origin}/search`,
    egressAllow: servers.map(({ entry }) => entry),
    at: (host: number, path: string): string => `${servers[host]?.origin}${path}`,
    /** Sets the results of the next queries. */
    finds: (...addresses: string[][]): void => {
      found = addresses;
    },
    fails: (isFailing: boolean): void => {
      failing = isFailing;
    },
    /** Number of requests for an address. */
    visitsOf: (url: string): number => visits.filter((visit) => visit.url === url).length,
    forget: (): void => {
      visits.length = 0;
      queries.length = 0;
      search.got.length = 0;
    },
    stop: async (): Promise<void> => {
      await Promise.all([search, ...servers].map((server) => server.close()));
    },
  };
};

export type ScriptedWeb = Awaited<ReturnType<typeof startWeb>>;

/** Research tasks given to a model. */
export type ResearchTask = 'plan' | 'missing' | 'write';

/** Answers one task by its prompt. */
export type ResearchAnswer = (task: ResearchTask, prompt: string) => string | Reply;

/** All messages of a request as text. */
export const promptOf = ({ messages }: Pick<ChatRequest, 'messages'>): string =>
  messages.map(({ content }) => String(content)).join('\n');

const taskOf = (prompt: string): ResearchTask => {
  if (prompt.includes('Plan a web search')) return 'plan';
  return prompt.includes('still missing') ? 'missing' : 'write';
};

/** A model that answers every research task by a function. */
export const startResearcher = async (first: ResearchAnswer) => {
  const openai = await startOpenai();
  let answer = first;
  const reply: Reply = (response, request) => {
    openai.script(reply);
    const prompt = promptOf(request);
    const said = answer(taskOf(prompt), prompt);
    if (typeof said === 'function') return said(response, request);
    return says({ text: said, usage: { input: 100, output: 20 } })(response, request);
  };
  openai.script(reply);
  return {
    openai,
    answers: (other: ResearchAnswer): void => {
      answer = other;
    },
    /** Prompts of a task so far. */
    prompts: (task: ResearchTask): string[] =>
      openai.asked.map(({ body }) => promptOf(body)).filter((prompt) => taskOf(prompt) === task),
    stop: openai.stop,
  };
};

/** Settings of a daemon with scripted web and model. */
export const researchConfig = (
  { egressAllow, searchUrl }: ScriptedWeb,
  { openai }: Awaited<ReturnType<typeof startResearcher>>,
) => ({
  registration: 'open' as const,
  egressAllow,
  searchUrl,
  modelUrl: openai.baseUrl,
  modelName: 'fake-1',
});

export interface PromptedSource {
  n: number;
  text: string;
}

/** Extracts the sources from a prompt. */
export const sourcesIn = (prompt: string): PromptedSource[] =>
  [...prompt.matchAll(/^--- Source (\d+) \w+: .* ---\n([\s\S]*?)(?=\n\n--- |$(?![\s\S]))/gm)].map(
    ([, n = '', text = '']) => ({ n: Number(n), text }),
  );

/** Queries in the form of a model reply. */
export const queriesOf = (...queries: string[]): string =>
  JSON.stringify({ queries: queries.map((query) => ({ query, why: 'to know' })) });

/** A report that quotes the start of each source in a prompt. */
export const quotingReport = (prompt: string): string => {
  const sentences = sourcesIn(prompt).map(({ n, text }) => {
    const quote = text.split(/(?<=\.)\s/)[0] ?? '';
    return { text: `Source ${n} says so.`, quotes: [{ n, quote }] };
  });
  return JSON.stringify({ sections: [{ heading: 'What is said', sentences }], limitations: [] });
};
