@v1alpha1 @websocket
Feature: A client comes back

  @OUP-LEDGER-016
  Scenario: A cursor moves by frames that show one
    Given a server that starts anew behind the start of a turn
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And the session is opened again behind the last cursor that was shown

  @OUP-SOCKET-017 @OUP-REPLAY-021
  Scenario: A server that starts anew is found again
    Given a server that starts anew in the middle
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And the session is opened again behind the last cursor that was shown

  @OUP-REPLAY-019
  Scenario: The cursor of an answer counts once its event has come
    Given a server that starts anew twice
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And the session is opened again behind the last cursor that was shown

  @OUP-REPLAY-020
  Scenario: What is told again is no news
    Given a server that starts anew and repeats itself
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And the client has not said "two One"

  @OUP-REPLAY-022
  Scenario: A cursor that expired is dropped
    Given a server that starts anew and has forgotten what it told
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And no refused cursor is tried again

  @OUP-REPLAY-023
  Scenario: A cursor of another stream is not tried again
    Given a server that starts anew as another server
    When the client runs a turn that says something
    Then no refused cursor is tried again

  @OUP-QUEUE-010
  Scenario: A client that was told of a loss goes back
    Given a server that loses events
    When the client runs a turn that says something
    Then the client ends well
    And the client goes back

  @OUP-REPLAY-024
  Scenario: A gap sends a client back
    Given a server that leaves a gap
    When the client runs a turn that says something
    Then the client ends well
    And the client has said "One two three."
    And the client goes back
