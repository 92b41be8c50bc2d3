import type { ServerResponse } from 'node:http';
import { type Listening, listen } from '../kernel/listen.js';
import type { ChatRequest, Reply } from './openai.js';
import { says, startOpenai } from './openai.js';

/** A page of a scripted web: its HTML, or a function that answers. */
export type ScriptedPage = string | ((response: ServerResponse) => void);

/** One request for a page, with its time. */
export interface PageVisit {
  url: string;
  at: number;
}

/** Servers on loopback with scripted pages, and a search that finds them. */
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
  /** The addresses that are found, those of each query in turn. */
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
    /** Sets what the next queries find. */
    finds: (...addresses: string[][]): void => {
      found = addresses;
    },
    fails: (isFailing: boolean): void => {
      failing = isFailing;
    },
    /** Returns how often an address was asked for. */
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

/** The tasks of research that a model is given. */
export type ResearchTask = 'plan' | 'missing' | 'write';

/** Answers one task by its prompt. */
export type ResearchAnswer = (task: ResearchTask, prompt: string) => string | Reply;

/** The text of a request, all its messages. */
export const promptOf = ({ messages }: Pick<ChatRequest, 'messages'>): string =>
  messages.map(({ content }) => String(content)).join('\n');

const taskOf = (prompt: string): ResearchTask => {
  if (prompt.includes('Plan a web search')) return 'plan';
  return prompt.includes('still missing') ? 'missing' : 'write';
};

/** A model that answers every task of research by a function. */
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
    /** Returns the prompts of a task so far. */
    prompts: (task: ResearchTask): string[] =>
      openai.asked.map(({ body }) => promptOf(body)).filter((prompt) => taskOf(prompt) === task),
    stop: openai.stop,
  };
};

/** The settings of a daemon that searches a scripted web and asks a scripted model. */
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

/** A source as a prompt shows it. */
export interface PromptedSource {
  n: number;
  text: string;
}

/** Reads the sources out of a prompt. */
export const sourcesIn = (prompt: string): PromptedSource[] =>
  [...prompt.matchAll(/^--- Source (\d+) \w+: .* ---\n([\s\S]*?)(?=\n\n--- |$(?![\s\S]))/gm)].map(
    ([, n = '', text = '']) => ({ n: Number(n), text }),
  );

/** Writes queries as a model does. */
export const queriesOf = (...queries: string[]): string =>
  JSON.stringify({ queries: queries.map((query) => ({ query, why: 'to know' })) });

/** Writes a report that quotes the beginning of each source of a prompt. */
export const quotingReport = (prompt: string): string => {
  const sentences = sourcesIn(prompt).map(({ n, text }) => {
    const quote = text.split(/(?<=\.)\s/)[0] ?? '';
    return { text: `Source ${n} says so.`, quotes: [{ n, quote }] };
  });
  return JSON.stringify({ sections: [{ heading: 'What is said', sentences }], limitations: [] });
};
