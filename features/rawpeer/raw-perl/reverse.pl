#!/usr/bin/env perl
# An extension of API 0.1 that speaks the wire by hand: one process, one select loop, nothing but core Perl.
use strict;
use warnings;
use Errno qw(EINTR);
use JSON::PP ();

my $LONGEST = 1_048_576;
my $json    = JSON::PP->new->utf8->canonical->allow_nonref;
my ($ready, %dozing) = (0);

$SIG{PIPE} = sub { exit 1 };
binmode STDIN;
binmode STDOUT;

sub say_frame {
    my $bytes = $json->encode({ jsonrpc => '2.0', @_ }) . "\n";
    while (length $bytes) {
        my $n = syswrite STDOUT, $bytes;
        if (defined $n) { substr $bytes, 0, $n, ''; next }
        exit 1 unless $!{EINTR};
    }
}

sub answer { my ($id, $result) = @_; say_frame(id => $id, result => $result) }

sub refuse {
    my ($id, $code, $message) = @_;
    say_frame(id => $id, error => { code => $code, message => $message });
}

sub tool_result {
    my ($text, $failed) = @_;
    return { content => $text, is_error => $failed ? JSON::PP::true : JSON::PP::false };
}

sub text_schema {
    my ($name, $type) = @_;
    return { type => 'object', properties => { $name => { type => $type } }, required => [$name] };
}

my @tools = (
    { name => 'reverse', description => 'Reverses a text.',  parameters => text_schema('text', 'string') },
    { name => 'doze',    description => 'Waits some seconds.', parameters => text_schema('seconds', 'integer') },
);

# JSON::PP tells a number from a string by how Perl holds it; an id is told by its spelling.
sub is_text { my ($value) = @_; return defined $value && !ref $value && $json->encode($value) =~ /^"/ }

sub start {
    my ($id, $params) = @_;
    my $version = ref $params eq 'HASH' ? $params->{api_version} : undef;
    if ((defined $version ? $version : '') ne '0.1' || exists $params->{protocol}) {
        refuse($id, -32000, 'this extension speaks API 0.1, which has no negotiation');
        exit 3;
    }
    answer($id, { api_version => '0.1', commands => [], tools => \@tools });
    $ready = 1;
}

sub call {
    my ($id, $params) = @_;
    my ($name, $given) = ref $params eq 'HASH' ? @$params{qw(name arguments)} : ();
    return refuse($id, -32602, 'a call has a name and an object of arguments') unless is_text($name) && ref $given eq 'HASH';
    if ($name eq 'reverse') {
        return answer($id, tool_result('there is no text', 1)) unless is_text($given->{text}) && length $given->{text};
        return answer($id, tool_result(scalar reverse($given->{text}), 0));
    }
    if ($name eq 'doze') {
        my $seconds = $given->{seconds};
        return answer($id, tool_result('there are no seconds', 1)) unless defined $seconds && $seconds =~ /^\d{1,4}$/;
        $dozing{ $json->encode($id) } = [ $id, time + $seconds ];
        return;
    }
    refuse($id, -32601, "no tool is called $name");
}

sub wake {
    my ($all) = @_;
    for my $key (sort keys %dozing) {
        my ($id, $until) = @{ $dozing{$key} };
        next unless $all || $until <= time;
        delete $dozing{$key};
        answer($id, tool_result($all ? 'woken' : 'rested', 0));
    }
}

sub take {
    my ($line) = @_;
    return if $line =~ /^[ \t\r]*$/;
    my $m = eval { $json->decode($line) };
    return refuse(undef, -32700, 'parse error') if $@;
    return refuse(undef, -32600, 'a message is an object') unless ref $m eq 'HASH';
    my ($id, $method) = @$m{qw(id method)};
    return if !exists $m->{method} && (exists $m->{result} || exists $m->{error});
    return refuse($id, -32600, 'no request of JSON-RPC 2.0')
        if exists $m->{id} && !((is_text($m->{jsonrpc}) && $m->{jsonrpc} eq '2.0') && is_text($method));
    return unless exists $m->{id};
    return refuse($id, -32600, 'this id is in use') if $dozing{ $json->encode($id) };
    if ($method eq 'initialize') { return $ready ? refuse($id, -32600, 'initialized already') : start($id, $m->{params}) }
    return refuse($id, -32600, 'initialize comes first') unless $ready;
    return call($id, $m->{params}) if $method eq 'tool/call';
    if ($method eq 'shutdown') { wake(1); answer($id, {}); exit 0 }
    refuse($id, -32601, 'no method is called ' . substr $method, 0, 200);
}

my $buffer = '';
while (1) {
    my $wanted = '';
    vec($wanted, fileno(STDIN), 1) = 1;
    my $found = select $wanted, undef, undef, %dozing ? 1 : undef;
    wake(0);
    next if $found <= 0;
    my $n = sysread STDIN, $buffer, 65_536, length $buffer;
    if (!defined $n) { next if $!{EINTR}; exit 1 }
    last if $n == 0;
    while ((my $end = index $buffer, "\n") >= 0) {
        exit 3 if $end > $LONGEST;
        take(substr $buffer, 0, $end);
        substr $buffer, 0, $end + 1, '';
    }
    exit 3 if length $buffer > $LONGEST;
}
exit 0;
