// A made-up but lifelike catalogue of tools, the same on every machine, and tasks labelled with the tool that does them.

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

const tasks = `
Open a pull request on GitHub for the branch fix-login => github create pull_request
Which pull requests are waiting in GitLab? => gitlab list pull_request
please delete the stale branches on bitbucket => bitbucket delete branch
Find the commit that touched auth.ts in our Gitea => gitea search commit
show me the details of release v2.1 on GitHub => github get release
I want to be notified when the CI workflow on Codeberg changes => codeberg watch workflow
Update the webhook endpoint in GitLab to the new host => gitlab update webhook
Export all issues of the GitHub project to CSV => github export issue
add a review comment on Gerrit about the missing test => gerrit create review_comment
Create the git tag v3 in Azure Repos => azure_repos create tag
list the repositories we have at sourcehut => sourcehut list repository
File a bug in Jira: the login page is blank => jira create issue
What epics do we have in Linear? => linear list epic
move the milestone due date in Asana by editing it => asana update milestone
Search Trello boards for the marketing plan => trello search board
Remove the label "wontfix" from ClickUp for good => clickup delete label
log my time: create a worklog entry in Jira for yesterday => jira create worklog
Download the sprints from YouTrack as JSON => youtrack export sprint
read the checklist with id 77 in Basecamp => basecamp get checklist
subscribe to comments in monday so that we hear of changes => monday watch comment
Attach: create attachment on the Shortcut ticket => shortcut create attachment
search wrike for issues about the crash on start => wrike search issue
Send a message in Slack: create a message in the channel general => slack create message
Who is in this Teams user group? list user groups => teams list user_group
Find the thread in Discord about the outage => discord search thread
Delete that embarrassing message on Mattermost => mattermost delete message
Create a poll in Zulip for lunch => zulip create poll
Set up a reminder in Slack for tomorrow 9am, a new one => slack create reminder
Update my presence status in Webex => webex update status
list pinned messages in telegram => telegram list pin
export the channels of Rocketchat => rocketchat export channel
get the uploaded file from Signal by id => signal get file
add an emoji reaction in matrix => matrix create reaction
Write a new draft in Gmail to Ann => gmail create draft
Search my Outlook emails for the March invoice => outlook search email
Show bounced deliveries in SendGrid => sendgrid list bounce
Delete the filter rule in Fastmail that eats newsletters => fastmail delete filter
Update the email template in Mailgun with the new logo => mailgun update template
Create a newsletter campaign in Mailchimp => mailchimp create campaign
change my signature block in Proton => proton update signature
Export the address book contacts from Zoho Mail => zoho_mail export contact
read the attachment 12 of that mail in postmark => postmark get attachment
list mailbox folders in Yahoo Mail => yahoo_mail list mailbox
Create an event in Google Calendar on Friday at noon => google_calendar create event
When am I free? Get availability in Outlook Calendar => outlook_calendar get availability
Delete the Zoom meeting of this afternoon => zoom delete meeting
find the transcript of the Zoom call where we talked about pricing => zoom search transcript
List the invitations in Calendly => calendly list invitation
watch room bookings in caldav => caldav watch room
Update the repeating series in Fantastical => fantastical update recurrence
export ticket sales from Eventbrite as a CSV => eventbrite export ticket_sale
search meetup events about rust => meetup search event
list public holidays from Doodle => doodle list holiday
get the recording of cal.com call 5 => cal_com get recording
Upload: create a file in S3 with this report => s3 create file
Make a share link in Dropbox for the photo folder: create share link => dropbox create share_link
List the buckets in S3 => s3 list bucket
Find the folder named Taxes in Google Drive => google_drive search folder
Restore: get the earlier version of the file in OneDrive => onedrive get version
Revoke access, delete the permission in Box => box delete permission
How much storage quota do we use in Nextcloud? => nextcloud get quota
Update the retention lifecycle rule in Azure Blob => azure_blob update lifecycle_rule
list multipart uploads on minio => minio list upload
search SharePoint files for the onboarding guide => sharepoint search file
export permissions from backblaze => backblaze export permission
Create a table for customers in Postgres => postgres create table
Run: create a query in BigQuery that counts rows => bigquery create query
List indexes in MySQL => mysql list index
Delete the trigger on orders in Snowflake => snowflake delete trigger
Take a backup of Redis, a new one => redis create backup
Show the schema of the MongoDB database => mongodb get schema
Search the saved views in Redshift => redshift search view
Create a schema migration in SQLite => sqlite create migration
list open connections to ClickHouse => clickhouse list connection
update the grants of a role in duckdb => duckdb update role
export tables from postgres as csv => postgres export table
List the virtual machine instances in AWS => aws list instance
Update the Kubernetes deployment to 3 replicas => kubernetes update deployment
Delete the container in Docker => docker delete container
Create a DNS record in Cloudflare for api.example.org => cloudflare create dns_record
Get the secret from GCP => gcp get secret
Watch the cluster in Azure => azure watch cluster
find a serverless function in DigitalOcean => digitalocean search function
Create a TLS certificate on Fly => fly create certificate
list load balancers at Render => render list load_balancer
delete the old disk volumes in Heroku => heroku delete volume
Add a new lead to Salesforce => salesforce create lead
Which deals are in HubSpot? list deals => hubspot list deal
Update the contact in Pipedrive with the new phone number => pipedrive update contact
Find the support cases in Zendesk about refunds => zendesk search support_case
Delete a note in Zoho CRM => zoho_crm delete note
Export audience segments from Intercom => intercom export segment
Get the price quote 991 from Copper => copper get quote
Log a call: create an activity in Close => close create activity
list company accounts in Attio => attio list account
watch the sales pipeline in Freshsales => freshsales watch pipeline
Refund the charge: create a refund in Stripe => stripe create refund
List unpaid invoices in Xero => xero list invoice
Get my PayPal balance => paypal get balance
Search Stripe payments by the customer's email => stripe search payment
Update the subscription in Chargebee => chargebee update subscription
Delete a coupon in Braintree => braintree delete coupon
Export payouts from Adyen => adyen export payout
watch disputes in Square => square watch dispute
create a tax rate in quickbooks => quickbooks create tax_rate
show billing customers from wise => wise list customer
Which alerts are firing in Datadog? => datadog list alert
Create a dashboard in Grafana for latency => grafana create dashboard
Search error groups in Sentry for NullPointerException => sentry search error_group
Get the distributed trace 4bf9 from Honeycomb => honeycomb get trace
Find log lines in Splunk with status 500 => splunk search log
Update the maintenance window in Opsgenie => opsgenie update maintenance_window
Who is on call? list on-call shifts in PagerDuty => pagerduty list on_call_shift
delete the monitor of our endpoint in New Relic newrelic => newrelic delete monitor
export a metric from Prometheus => prometheus export metric
watch incidents in elastic => elastic watch incident
Create a page in Notion for the meeting notes => notion create page
Search Confluence pages for the style guide => confluence search page
Update a row in Airtable => airtable update row
Export the spreadsheet from Google Sheets as CSV => google_sheets export spreadsheet
list comments on the passage in Google Docs => google_docs list comment
Get backlinks of this page in Obsidian => obsidian get backlink
delete a block in Coda => coda delete block
draw a chart: create chart in Quip => quip create chart
Add a product to Shopify => shopify create product
List orders in WooCommerce => woocommerce list order
Update the stock level inventory in Magento => magento update inventory
Where is the shipment? Get the tracking number from Etsy => etsy get shipment
Search abandoned carts in BigCommerce => bigcommerce search cart
Export reviews by buyers from Amazon Seller => amazon_seller export review
delete the discount code in eBay => ebay delete discount
list returns of goods in PrestaShop => prestashop list return
`;
