// A made-up but lifelike catalogue of tools, the same on every machine, and tasks labelled with the tool that does them.
import { tasks } from './selection-tasks.mjs';

// category: [services, objects with how a description speaks of them]
const domains = {
  'code hosting': [
    'github gitlab bitbucket gitea azure_repos codeberg gerrit sourcehut phabricator launchpad',
    {
      repository: 'code repository',
      pull_request: 'pull request with its diff',
      branch: 'git branch',
      commit: 'commit and its changed files',
      issue: 'issue ticket',
      release: 'release with notes',
      tag: 'git tag',
      workflow: 'CI workflow run',
      webhook: 'webhook endpoint',
      review_comment: 'code review comment',
    },
  ],
  'project tracking': [
    'jira linear asana trello clickup monday youtrack shortcut basecamp wrike',
    {
      issue: 'issue or bug ticket',
      sprint: 'sprint iteration',
      epic: 'epic that groups stories',
      board: 'kanban board',
      label: 'label for sorting work',
      attachment: 'file attached to a ticket',
      worklog: 'logged time entry',
      milestone: 'milestone with a due date',
      comment: 'comment in a discussion',
      checklist: 'checklist of steps',
    },
  ],
  chat: [
    'slack teams discord mattermost zulip telegram rocketchat webex signal matrix',
    {
      message: 'chat message',
      channel: 'channel or room',
      thread: 'thread of replies',
      reaction: 'emoji reaction',
      user_group: 'group of members',
      file: 'uploaded file',
      reminder: 'scheduled reminder',
      status: 'presence status of a user',
      poll: 'poll with options',
      pin: 'pinned message',
    },
  ],
  mail: [
    'gmail outlook fastmail proton sendgrid mailgun postmark mailchimp zoho_mail yahoo_mail',
    {
      email: 'email message',
      draft: 'unsent draft',
      mailbox: 'mailbox folder',
      attachment: 'attachment of a mail',
      contact: 'address book contact',
      template: 'reusable message template',
      campaign: 'newsletter campaign',
      bounce: 'bounced delivery',
      filter: 'filter rule for incoming mail',
      signature: 'signature block',
    },
  ],
  calendar: [
    'google_calendar outlook_calendar calendly caldav cal_com zoom doodle fantastical meetup eventbrite',
    {
      event: 'calendar event',
      meeting: 'video meeting with a join link',
      availability: 'free and busy slots',
      invitation: 'invitation to attendees',
      room: 'conference room booking',
      recurrence: 'repeating series',
      holiday: 'public holiday',
      recording: 'recording of a call',
      transcript: 'transcript of what was said',
      ticket_sale: 'ticket sold to an attendee',
    },
  ],
  'file storage': [
    's3 google_drive dropbox onedrive box azure_blob minio sharepoint nextcloud backblaze',
    {
      file: 'file with its contents',
      folder: 'folder or directory',
      bucket: 'storage bucket',
      share_link: 'link for sharing with others',
      version: 'earlier version of a file',
      permission: 'access permission',
      quota: 'storage quota and usage',
      thumbnail: 'preview image',
      lifecycle_rule: 'retention and expiry rule',
      upload: 'multipart upload',
    },
  ],
  database: [
    'postgres mysql sqlite bigquery snowflake redshift mongodb redis clickhouse duckdb',
    {
      query: 'SQL query and its rows',
      table: 'table with its columns',
      index: 'index that speeds up lookups',
      schema: 'schema of the database',
      view: 'saved view',
      backup: 'backup or dump',
      role: 'database role and its grants',
      migration: 'schema migration',
      connection: 'open connection or session',
      trigger: 'trigger on changed rows',
    },
  ],
  cloud: [
    'aws gcp azure kubernetes docker heroku fly render cloudflare digitalocean',
    {
      instance: 'virtual machine instance',
      deployment: 'deployment of a service',
      container: 'running container',
      load_balancer: 'load balancer',
      dns_record: 'DNS record of a domain',
      secret: 'secret value',
      volume: 'disk volume',
      cluster: 'cluster of nodes',
      function: 'serverless function',
      certificate: 'TLS certificate',
    },
  ],
  crm: [
    'salesforce hubspot pipedrive zoho_crm close copper freshsales zendesk intercom attio',
    {
      contact: 'contact person',
      lead: 'sales lead',
      deal: 'deal or opportunity in the pipeline',
      account: 'company account',
      activity: 'logged call or activity',
      support_case: 'support case of a customer',
      quote: 'price quote',
      note: 'note on a record',
      pipeline: 'sales pipeline and its stages',
      segment: 'audience segment',
    },
  ],
  payments: [
    'stripe paypal square adyen braintree quickbooks xero wise plaid chargebee',
    {
      invoice: 'invoice to a customer',
      payment: 'payment or charge',
      refund: 'refund of a charge',
      subscription: 'recurring subscription',
      customer: 'billing customer',
      payout: 'payout to a bank account',
      dispute: 'chargeback dispute',
      coupon: 'discount coupon',
      tax_rate: 'tax rate',
      balance: 'account balance',
    },
  ],
  monitoring: [
    'datadog grafana sentry newrelic prometheus pagerduty opsgenie honeycomb splunk elastic',
    {
      alert: 'alert that fires on a condition',
      dashboard: 'dashboard of charts',
      metric: 'time series metric',
      incident: 'incident and its responders',
      log: 'log lines',
      trace: 'distributed trace',
      monitor: 'monitor of an endpoint',
      on_call_shift: 'on-call shift in a rota',
      error_group: 'group of equal exceptions',
      maintenance_window: 'maintenance window',
    },
  ],
  documents: [
    'notion confluence google_docs google_sheets airtable coda quip evernote obsidian word_online',
    {
      page: 'page of text',
      spreadsheet: 'spreadsheet with cells',
      row: 'row of a table',
      template: 'document template',
      comment: 'comment on a passage',
      workspace: 'workspace and its members',
      block: 'block of content',
      formula: 'formula of a cell',
      chart: 'chart drawn from cells',
      backlink: 'link from other pages',
    },
  ],
  commerce: [
    'shopify woocommerce magento bigcommerce etsy amazon_seller ebay prestashop squarespace wix',
    {
      product: 'product in the shop',
      order: 'order of a shopper',
      inventory: 'stock level',
      shipment: 'shipment with tracking number',
      cart: 'abandoned cart',
      review: 'review by a buyer',
      collection: 'collection of products',
      discount: 'discount code',
      return: 'return of goods',
      price_list: 'list of prices',
    },
  ],
};

const verbs = {
  create: (a, s) => `Create a new ${a} in ${s}. Adds it with the fields given and returns its id.`,
  list: (a, s) => `List each ${a} in ${s}, newest first. Shows all of them page by page.`,
  get: (a, s) => `Get one ${a} from ${s} by its id. Reads all of its details.`,
  update: (a, s) => `Update a ${a} in ${s}. Changes or edits only the fields given.`,
  delete: (a, s) => `Delete a ${a} from ${s}. Removes it for good; this cannot be undone.`,
  search: (a, s) => `Search ${s} for a ${a} by text and filters. Finds what matches.`,
  export: (a, s) => `Export every ${a} from ${s} as a CSV or JSON file to download.`,
  watch: (a, s) => `Watch a ${a} in ${s}. Subscribes to it and notifies when it changes.`,
};

const titled = (words) => words.split('_').map((word) => word[0].toUpperCase() + word.slice(1));
const spellings = [
  (words) => words,
  (words) =>
    titled(words)
      .join('')
      .replace(/^./, (first) => first.toLowerCase()),
  (words) => words.replaceAll('_', '-'),
];

function definition(category, service, style, verb, object, phrase) {
  const name = spellings[style](`${verb}_${object}`);
  const description = verbs[verb](phrase, titled(service).join(' '));
  return {
    kind: 'mcp_tool',
    server: service,
    name,
    category,
    description,
    schema: {
      name: `${service}__${name}`,
      description,
      parameters: { type: 'object', properties: { id: { type: 'string' }, fields: { type: 'object' } } },
    },
  };
}

/** `size` tools over up to 130 services, about 80 each; beyond 10,400 the services stand again as those of a region. */
export function sampleCatalogue(size) {
  const units = [];
  for (let round = 0; units.length < size; round += 1) {
    for (let place = 0; place < 10; place += 1) {
      for (const [category, [services, objects]] of Object.entries(domains)) {
        const service = services.split(' ')[place] + (round === 0 ? '' : `_region${round}`);
        for (const [object, phrase] of Object.entries(objects)) {
          for (const verb of Object.keys(verbs))
            units.push(definition(category, service, place % spellings.length, verb, object, phrase));
        }
      }
    }
  }
  return units.slice(0, size);
}

/** Tasks in the words of users, each with the unit that does it: `[task, id]`. */
export function labelledTasks() {
  const places = new Map();
  for (const [services] of Object.values(domains))
    for (const [place, name] of services.split(' ').entries()) places.set(name, place);
  return tasks
    .trim()
    .split('\n')
    .map((line) => {
      const [task, target] = line.split(' => ');
      const [service, verb, object] = target.split(' ');
      const name = spellings[places.get(service) % spellings.length](`${verb}_${object}`);
      return [task, `mcp_tool:${service}/${name}`];
    });
}
