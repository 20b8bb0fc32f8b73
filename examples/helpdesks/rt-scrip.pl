# Request Tracker 5: the custom commit code of two scrips, "On Create" and "On Correspond" (action "User Defined", stage
# "Batch"), by which Terminus hears of a customer's words at once. RT_SiteConfig.pm says where to and with which secret:
#
#     Set($TerminusUrl, 'https://terminus.example.org/intake/rt');
#     Set($TerminusSecret, '...');
my $url = RT->Config->Get('TerminusUrl') or return 1;
require Digest::SHA;
require JSON;
require LWP::UserAgent;
my @told = $self->TransactionObj;
if (my $batch = $self->TicketObj->TransactionBatch) {
    @told = @$batch;
}
for my $done (grep { $_->Type eq 'Create' || $_->Type eq 'Correspond' } @told) {
    my $body = JSON::to_json(
        {
            event       => $done->Type eq 'Create' ? 'ticket.create' : 'ticket.correspond',
            event_id    => 'txn-' . $done->Id,
            ticket      => { id => $done->ObjectId },
            transaction => { creator => $done->CreatorObj->Name },
        },
        { utf8 => 1, canonical => 1 },
    );
    my $time = time;
    my $sum  = Digest::SHA::hmac_sha256_hex("$time.$body", RT->Config->Get('TerminusSecret'));
    LWP::UserAgent->new(timeout => 5)->post(
        $url,
        'Content-Type'   => 'application/json',
        'X-RT-Timestamp' => $time,
        'X-RT-Signature' => "sha256=$sum",
        'Content'        => $body,
    );    # Terminus polls besides: what is not delivered is found then
}
return 1;
