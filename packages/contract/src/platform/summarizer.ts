import { z } from 'zod';
import { timestamp } from '../common.ts';
import { endpoint } from '../endpoint.ts';

const MOST_CHARACTERS = 4096;

const isHttpUrl = (value: string): boolean => /^https?:$/.test(URL.parse(value)?.protocol ?? '');

const hasCredentials = (value: string): boolean => {
  const url = URL.parse(value);
  return url !== null && url.username + url.password !== '';
};

const target = z.object(
  {
    url: z
      .string({ error: 'url required' })
      .trim()
      .min(1, 'url required')
      // No browser takes a longer one; to read the host takes the square of its length.
      .max(MOST_CHARACTERS, { error: 'url must be http or https', abort: true })
      .refine(isHttpUrl, 'url must be http or https')
      .refine((url) => !hasCredentials(url), 'Credentials in the URL are not allowed')
      .describe('An http or https address of an HTML page'),
  },
  { error: 'url required' },
);

const page = { service: 'summarizer', auth: 'none', tag: 'Summarizer' } as const;

const errors = {
  400: ['url required', 'url must be http or https', 'Credentials in the URL are not allowed'],
  500: [
    'HTTP <status> fetching <url>',
    'Target address not allowed',
    'Target could not be reached',
    'Target did not answer in time',
    'Too many redirects',
    'Response too large',
    'Response has an unsupported content encoding',
    'Invalid URL',
    'URL must be http or https',
    'Credentials in the URL are not allowed',
    'Not an HTML page: <type>',
  ],
  503: ['Request cancelled'],
} as const;

export const get = endpoint({
  ...page,
  method: 'GET',
  path: '/',
  summary: 'What the service offers',
  reply: z.object({
    service: z.string(),
    description: z.string(),
    endpoints: z.record(z.string(), z.string()),
    payment: z.object({
      network: z.string(),
      currency: z.string(),
      payTo: z.string().nullable(),
      note: z.string(),
    }),
  }),
});

export const getHealth = endpoint({
  ...page,
  method: 'GET',
  path: '/health',
  summary: 'Whether the service answers',
  reply: z.object({ status: z.literal('ok'), service: z.string(), version: z.string() }),
});

export const summarize = endpoint({
  ...page,
  method: 'POST',
  path: '/api/summarize',
  summary: 'Title, description, headings, paragraphs and word count of a page',
  body: target,
  reply: z.object({
    url: z.string(),
    title: z.string().describe('The title, else the first h1, else empty'),
    description: z.string(),
    headings: z.array(z.string()).max(20).describe('h1 to h3, each once'),
    paragraphs: z.array(z.string()).max(10).describe('Each once'),
    wordCount: z.int().describe('Visible words of the whole page'),
    fetchedAt: timestamp,
  }),
  errors,
});

export const extract = endpoint({
  ...page,
  method: 'POST',
  path: '/api/extract',
  summary: 'Links, images and metadata of a page',
  body: target,
  reply: z.object({
    url: z.string(),
    links: z.array(z.object({ href: z.string(), text: z.string().max(100) })).max(50),
    images: z.array(z.object({ src: z.string(), alt: z.string().max(100) })).max(20),
    meta: z.record(z.string(), z.string()).describe('og:*, twitter:* and description'),
    fetchedAt: timestamp,
  }),
  errors,
});
