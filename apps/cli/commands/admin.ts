import type { Command } from 'commander'
import type { RedriveOptions } from '../redrive.ts'
import { acts, type Shell, wholeNumber } from '../shell.ts'

export function adminCommands(shell: Shell, program: Command): void {
  const admin = program.command('admin').description('work on a deployment in AWS, with AWS credentials')
  const command = admin
    .command('bootstrap')
    .description('make the first person of a deployment and print their key, once')
    .option('--stack <name>', 'the CloudFormation stack', 'Rouse-dev')
    .option('--name <name>', 'how the person is called', 'owner')
    .option('--tz <zone>', 'their time zone', 'UTC')
    .option('--json', 'print address, person and key as JSON')
  acts<{ stack: string; name: string; tz: string; json?: boolean }>(
    shell,
    command,
    { example: 'rouse admin bootstrap --stack Rouse-prod --name owner --tz Europe/Amsterdam' },
    async (options) => {
      // The AWS SDK is a second of loading that no other command waits for.
      const { bootstrap } = await import('../bootstrap.ts')
      return await bootstrap(options, shell.io)
    },
  )
  const again = admin
    .command('redrive')
    .description('send what lies in the dead-letter queues of a deployment to where it came from')
    .option('--stack <name>', 'the CloudFormation stack', 'Rouse-dev')
    .option('--queue <name>', 'alarms, flows or changes alone')
    .option('--kind <kind>', 'only alarms of this kind: schedule, turn, delivery, monitor, job or flow')
    .option('--id <id>', 'only those of this schedule, conversation, delivery, monitor, job or run of a flow')
    .option('--limit <n>', 'no more than so many of a queue', wholeNumber)
    .option('--dry-run', 'only count: nothing is sent, nothing is deleted')
    .option('--discard', 'delete what can never be sent again')
    .option('--json', 'print each letter as JSON')
  acts<RedriveOptions>(
    shell,
    again,
    {
      example:
        'rouse admin redrive --stack Rouse-prod --dry-run\nrouse admin redrive --stack Rouse-prod --kind schedule',
    },
    async (options) => {
      const { redrive } = await import('../redrive.ts')
      return await redrive(options, shell.io)
    },
  )
}
