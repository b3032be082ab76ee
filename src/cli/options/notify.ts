/** Options by which a sync tells others how it went. */

import type { Options } from './option.ts';

export const notifyOptions = {
  'ping-url': {
    type: 'text',
    takes: 'URL',
    describe: "dead man's switch to ping: URL/start before, URL after a success, URL/fail after a failure",
  },
  'ping-url-file': { type: 'text', takes: 'FILE', describe: 'file that holds the URL to ping' },
  'on-publish': {
    type: 'text',
    takes: 'COMMAND',
    describe: 'command to run after a snapshot was published; the run is JSON on its stdin',
  },
  'on-unchanged': { type: 'text', takes: 'COMMAND', describe: 'command to run after a sync that found nothing new' },
  'on-failure': { type: 'text', takes: 'COMMAND', describe: 'command to run after a sync that failed or was refused' },
  'metrics-file': {
    type: 'text',
    takes: 'FILE',
    describe:
      "file for the node exporter's textfile collector, such as …/rekap.prom; replaced as a whole after each sync",
  },
  webhook: { type: 'text', takes: 'URL', describe: 'URL to send each run to, as JSON by POST' },
  'webhook-secret-file': {
    type: 'text',
    takes: 'FILE',
    describe: 'file with the secret that signs what the webhook gets (HMAC-SHA256)',
  },
} as const satisfies Options;
