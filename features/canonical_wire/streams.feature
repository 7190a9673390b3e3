@0.3
Feature: Inference streams
  A stream is accepted, begins with started, counts its events without a gap, and ends once.

  @EXT03-STREAM-001 @EXT03-STREAM-002 @EXT03-STREAM-003 @EXT03-STREAM-004 @EXT03-STREAM-005 @EXT03-STREAM-007
  Scenario: The events of a stream
    Given the extension selects provider/stream
    And the extension is ready
    And the host has an ordinary conversation
    When the host asks for a stream
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-STREAM-006
  Scenario: A stream comes to an end
    Given the extension selects provider/stream
    And the extension is ready
    When the host asks for a stream
    Then the extension sends provider/event with /params/kind = "finished" or "error"

  @EXT03-STREAM-008
  Scenario: A stream is cancelled
    Given the extension selects provider/cancel
    And the extension is ready
    When the host asks for a stream
    And the host sends the line {"jsonrpc":"2.0","method":"provider/cancel","params":{"reason":"user","stream_id":«stream»}}
    And the extension goes on serving
    And the extension goes on serving
    Then no frame breaks a rule of this scenario

  @EXT03-STREAM-009
  Scenario: A stream that is unknown is cancelled
    Given the extension selects provider/cancel
    And the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"provider/cancel","params":{"stream_id":"nobody"}}                 |
      | {"jsonrpc":"2.0","method":"provider/cancel","params":{"reason":"user","stream_id":"nobody"}} |

  @EXT03-STREAM-009
  Scenario: A stream that has ended is cancelled
    Given the extension selects provider/cancel
    And the extension is ready
    When the host asks for a stream
    And the extension sends provider/event with /params/kind = "finished" or "error"
    And the host sends the line {"jsonrpc":"2.0","method":"provider/cancel","params":{"stream_id":«stream»}}
    Then the extension stays silent and goes on serving
